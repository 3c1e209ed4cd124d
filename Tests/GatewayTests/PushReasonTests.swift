import APNs
import Base
import Gateway
import Testing

@Suite struct PushReasonTests {
    @Test func all32HaveTheirStatus() {
        #expect(PushReason.allCases.count == 32)
        let counts = Dictionary(grouping: PushReason.allCases, by: \.httpStatus).mapValues(\.count)
        #expect(counts == [400: 14, 403: 8, 404: 1, 405: 1, 410: 2, 413: 1, 429: 2, 500: 1, 503: 2])
    }

    @Test func theLegacyStatusesAreTheDocumentedOnes() {
        #expect(BinaryStatus.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 7, 8, 10, 128, 255])
        #expect(PushReason.badDeviceToken.binaryStatus == .invalidToken)
        #expect(PushReason.unregistered.binaryStatus == .invalidToken)
        #expect(PushReason.payloadTooLarge.binaryStatus == .invalidPayloadSize)
        #expect(PushReason.shutdown.binaryStatus == .shutdown)
        #expect(BinaryStatus.invalidToken.packet(identifier: 0x0102_0304) == [8, 8, 1, 2, 3, 4])
    }

    @Test func theServerNameTellsTheEnvironment() {
        #expect(PushEnvironment(serverName: "gateway.sandbox.push.apple.com") == .sandbox)
        #expect(PushEnvironment(serverName: "gateway.push.apple.com") == .production)
        #expect(PushEnvironment(serverName: "evil.gateway.push.apple.com") == .unknown)
        #expect(PushEnvironment(serverName: nil) == .unknown)
    }

    @Test func theBucketRefills() {
        let start = Instant(nanoseconds: 0)
        var bucket = TokenBucket(burst: 3, perSecond: 10, now: start)
        #expect((0..<4).map { _ in bucket.take(now: start) } == [true, true, true, false])
        let next = bucket.refilled()
        #expect(next > start)
        let almost = Instant(nanoseconds: next.nanoseconds - 1000)
        #expect(bucket.take(now: almost) == false)
        #expect(bucket.take(now: next) == true)
        let later = start + .seconds(1000)
        #expect((0..<4).map { _ in bucket.take(now: later) } == [true, true, true, false])
    }
}
