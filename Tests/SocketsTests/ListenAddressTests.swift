import Glibc
import Sockets
import Testing

struct ListenAddressTests {
    @Test func addressesAreNumbers() {
        let legacy = ListenAddress(host: [127, 0, 0, 1], port: 2195)
        #expect(ListenAddress("127.0.0.1:2195") == legacy)
        #expect(ListenAddress("localhost:2195") == legacy)
        #expect(ListenAddress("[::1]:80")?.description == "[::1]:80")
        #expect(ListenAddress("[::1]:80")?.isLoopback == true)
        #expect(ListenAddress("127.9.9.9:1")?.isLoopback == true)
        #expect(ListenAddress("0.0.0.0:1")?.isLoopback == false)
        #expect(ListenAddress("[::]:1")?.isLoopback == false)
        let bad = [
            "", ":", "127.0.0.1", "127.0.0.1:65536", "example.org:1", "[::1:1", "127.0.0.1:-1", "::1:1",
            "[127.0.0.1]:1", "[localhost]:1",
        ]
        for text in bad { #expect(ListenAddress(text) == nil, "\(text)") }
    }

    @Test func aHostAloneHasNoBrackets() {
        #expect(ListenAddress(host: "127.0.0.1", port: 7)?.description == "127.0.0.1:7")
        #expect(ListenAddress(host: "fe80::1", port: 7)?.description == "[fe80::1]:7")
        for host in ["", "localhost", "[::1]", "127.0.0.1 ", "127.1"] {
            #expect(ListenAddress(host: host, port: 7) == nil, "\(host)")
        }
    }

    @Test func cHasFamilyPortAndHostInNetworkOrder() throws {
        let v4 = ListenAddress(host: [192, 0, 2, 1], port: 0x1234).socketAddress
        #expect(v4.count == MemoryLayout<sockaddr_in>.size)
        #expect(v4[2..<8] == [0x12, 0x34, 192, 0, 2, 1])
        let host = [UInt8](1...16)
        let v6 = ListenAddress(host: host, port: 0x1234).socketAddress
        #expect(v6.count == MemoryLayout<sockaddr_in6>.size)
        #expect(v6[2..<4] == [0x12, 0x34] && Array(v6[8..<24]) == host)
        let families = [v4, v6].map { $0.withUnsafeBytes { Int32($0.load(as: sa_family_t.self)) } }
        #expect(families == [AF_INET, AF_INET6])
    }
}
