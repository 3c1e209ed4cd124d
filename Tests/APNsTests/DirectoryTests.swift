import APNs
import Base
import Testing

struct DirectoryTests {
    private let wall = WallTime(nanoseconds: 5)

    @Test func fourTokensForEachAppAndDevice() {
        let directory = TokenDirectory()
        #expect(directory.add(app: "a.a").count == 4 && directory.add(app: "a.a").isEmpty)
        #expect(directory.add(devices: ["x", "y"]).count == 8 && directory.add(devices: ["x"]).isEmpty)
        #expect(directory.add(app: "b.b").count == 12)
        #expect(directory.devices == ["desktop", "x", "y"] && directory.apps == ["a.a", "b.b"])
        let tokens = directory.tokens(app: "a.a", device: "y")
        #expect(tokens.map(\.kind) == [.alert, .alert, .voip, .voip])
        #expect(tokens.map(\.environment) == [.sandbox, .production, .sandbox, .production])
        #expect(directory.tokenCount == 24 && Set(tokens.map(\.token.hex)).count == 4)
        #expect(tokens.allSatisfy { directory[$0.token] === $0 })
    }

    /// A full disk keeps some of a change and not the rest.
    @Test func whatWasNotKeptIsMadeAnew() {
        let directory = TokenDirectory()
        directory.restore(app: "empty.app")
        for kind in TokenKind.allCases {
            for environment in [PushEnvironment.sandbox, .production] {
                directory.restore(
                    Registration(token: .random(), app: "a.a", device: "x", kind: kind, environment: environment))
            }
        }
        let made = directory.complete()
        #expect(made.count == 12 && directory.complete().isEmpty)
        #expect(Set(made.map { "\($0.app) \($0.device)" }) == ["a.a desktop", "empty.app desktop", "empty.app x"])
        for app in ["a.a", "empty.app"] {
            for device in ["desktop", "x"] { #expect(directory.tokens(app: app, device: device).count == 4) }
        }
    }

    @Test func theDeadAreKnownForAWhile() {
        let directory = TokenDirectory()
        _ = directory.add(devices: ["x"])
        let old = directory.add(app: "a.a")
        let gone = directory.remove(app: "a.a", at: wall)
        #expect(Set(gone.tokens.map(\.token)) == Set(old.map(\.token)) && gone.forgotten.isEmpty)
        #expect(old.allSatisfy { $0.end == .unregistered(wall) && directory[$0.token] === $0 })
        #expect(!directory.has(app: "a.a") && directory.remove(app: "a.a", at: wall).tokens.isEmpty)
        let new = directory.add(app: "a.a")
        #expect(Set(new.map(\.token)).isDisjoint(with: old.map(\.token)))
        let (before, after) = directory.renew(app: "a.a", device: "x", at: wall)
        #expect(before.tokens.count == 4 && after.count == 4 && before.tokens.allSatisfy { $0.end == .expired(wall) })
        #expect(directory.renew(app: "a.a", device: "nobody", at: wall).new.isEmpty)
        #expect(directory.tokens(app: "a.a").count == 4)
        let left = directory.remove(devices: ["x", "desktop", "nobody"], at: wall)
        #expect(left.tokens.count == 4 && directory.devices == ["desktop"])
        // The oldest dead are forgotten first, and named for the database.
        let many = (1...2000).map { "load-\($0)" }
        _ = directory.add(devices: many)
        let flood = directory.remove(devices: many, at: wall)
        #expect(flood.tokens.count == 8000)
        #expect(flood.forgotten.count == 8000 + 16 - TokenDirectory.mostDead)
        #expect(Set(flood.forgotten).isSuperset(of: old.map(\.token)))
        #expect(flood.forgotten.allSatisfy { directory[$0] == nil })
        #expect(directory.tokenCount == TokenDirectory.mostDead + 4)
    }

    @Test func whatAnEarlierRunHadComesBack() {
        let first = TokenDirectory()
        _ = first.add(devices: ["x"])
        let all = first.add(app: "a.a")
        _ = first.renew(app: "a.a", at: wall)
        let second = TokenDirectory()
        // In no order.
        for one in all.shuffled() { second.restore(one) }
        for one in first.tokens(app: "a.a").shuffled() { second.restore(one) }
        #expect(second.tokens(app: "a.a").map(\.token) == first.tokens(app: "a.a").map(\.token))
        #expect(
            second.tokens(app: "a.a", device: "x").map(\.token) == first.tokens(app: "a.a", device: "x").map(\.token))
        #expect(second.devices == ["desktop", "x"] && second.tokenCount == 12)
        second.restore(app: "b.b")
        #expect(second.has(app: "b.b") && second.tokens(app: "b.b").isEmpty)
    }

    @Test func thereIsAnEndToRoom() {
        let directory = TokenDirectory()
        #expect(directory.hasRoom(apps: 4096) && !directory.hasRoom(apps: 4097))
        #expect(directory.hasRoom(devices: 16_383) && !directory.hasRoom(devices: 16_384))
        for number in 0..<6 { _ = directory.add(app: "a.a\(number)") }
        #expect(directory.hasRoom(devices: 5000) && !directory.hasRoom(devices: 6000))
    }

    @Test func tokensAsTextAndBytes() throws {
        let token = DeviceToken.random()
        #expect(DeviceToken(token.bytes) == token && token.hex.count == 64 && token.hex.hasPrefix(token.short))
        let upper = Array(token.hex.uppercased().utf8)
        #expect(upper.withUnsafeBufferPointer { DeviceToken(hex: $0) } == token)
        for bad in ["", "ab", token.hex + "a", String(token.hex.dropLast()), String(token.hex.dropLast()) + "g"] {
            #expect(Array(bad.utf8).withUnsafeBufferPointer { DeviceToken(hex: $0) } == nil)
        }
        #expect(DeviceToken([UInt8](repeating: 0, count: 31)) == nil)
        // One bit is another token, wherever it is.
        for index in 0..<256 {
            var bytes = token.bytes
            bytes[index / 8] ^= 1 << (index % 8)
            #expect(DeviceToken(bytes) != token)
        }
    }
}
