import Foundation
import JSON
import Testing

@testable import APNs

/// Inputs that broke a parser once, or that stand for a kind that must not. Found by `Scripts/fuzz`.
struct APNsFailCases {
    private func inputs(_ target: String) throws -> [(name: String, bytes: [UInt8])] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        return try ["FailCases/\(target)", "corpus/\(target)"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(
                at: root.appending(path: folder), includingPropertiesForKeys: nil
            )
            .map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
        }
    }

    @Test func jsonIsTheSameForBothReaders() throws {
        let all = try inputs("jsontext")
        #expect(all.count > 5)
        for (name, bytes) in all {
            let mine = bytes.withUnsafeBufferPointer { JSONText.isObject($0) }
            // jansson holds no such numbers, and no name with a NUL in it.
            let isBeyond = name == "numbers" || name == "nul"
            #expect(mine == ((try? JSONValue.parse(bytes))?.members != nil || isBeyond), "\(name)")
            _ = bytes.withUnsafeBufferPointer { try? FaultRules.inPayload($0) }
        }
    }

    @Test func tokensAreTokensOrWords() throws {
        let tokens = ProviderTokens(keys: ["ABC123DEFG", "K"].map { ProviderKey(id: $0) { _, _ in true } })
        for (name, bytes) in try inputs("providertoken") {
            let parts = bytes.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
            let header =
                parts.count == 3
                ? Array(("bearer " + parts.map { Data($0).base64EncodedString() }.joined(separator: ".")).utf8)
                    .filter { $0 != UInt8(ascii: "=") } : bytes
            switch header.withUnsafeBufferPointer({ tokens.read($0) }) {
            case .success(let token): #expect(token.issuedAt >= 0 && token.words.count < 256, "\(name)")
            case .failure(let refused): #expect(!refused.finding.text.isEmpty, "\(name)")
            }
        }
    }
}
