import Glibc
import Sockets
import Testing

struct SocketTests {
    @Test(arguments: ["127.0.0.1:0", "[::1]:0"]) func bothSidesKnowWhereTheyAre(_ place: String) throws {
        let asked = try #require(ListenAddress(place))
        let listener = try Socket.listening(on: asked)
        let address = try #require(listener.localAddress)
        #expect(address.host == asked.host && address.port != 0)
        let client = try connected(to: address)
        defer { close(client) }
        let made = try #require(try listener.accept())
        #expect(made.localAddress == address)
        #expect(made.peerAddress?.host == asked.host)
        #expect(try listener.accept() == nil)
    }

    @Test func aFloodIsTakenInParts() throws {
        let listener = try Socket.listening(on: ListenAddress(host: [127, 0, 0, 1], port: 0))
        let address = try #require(listener.localAddress)
        let clients = try (0..<40).map { _ in try connected(to: address) }
        defer { for client in clients { close(client) } }
        var taken: [Socket] = []
        try listener.acceptSome(while: { taken.count < 3 }) { taken.append($0) }
        #expect(taken.count == 3)
        try listener.acceptSome { taken.append($0) }
        #expect(taken.count == 35)
        try listener.acceptSome { taken.append($0) }
        #expect(taken.count == 40)
    }

    @Test func aDescriptorThatWasGivenUpStaysOpen() throws {
        let listener = try Socket.listening(on: ListenAddress(host: [127, 0, 0, 1], port: 0))
        let client = try connected(to: #require(listener.localAddress))
        defer { close(client) }
        func take() throws -> Int32 { try #require(try listener.accept()).giveUp() }
        let kept = try take()
        #expect(fcntl(kept, F_GETFD) == FD_CLOEXEC)
        #expect(close(kept) == 0)
    }

    @Test func aPortThatIsTakenSaysSo() throws {
        let listener = try Socket.listening(on: ListenAddress(host: [127, 0, 0, 1], port: 0))
        let address = try #require(listener.localAddress)
        let failure = #expect(throws: SocketFailure.self) { try Socket.listening(on: address) }
        #expect(failure?.code == EADDRINUSE)
        #expect(failure?.text == "binding \(address): Address already in use")
    }

    private func connected(to address: ListenAddress) throws -> Int32 {
        let family = address.host.count == 4 ? AF_INET : AF_INET6
        let fd = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        let status = address.socketAddress.withUnsafeBytes {
            connect(fd, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        try #require(status == 0)
        return fd
    }
}
