import Foundation
import Testing

@testable import Webhooks

/// Inputs of `Scripts/fuzz`, without the fuzzer: a line each for method, version, target and headers.
struct WebhookFailCases {
    @Test func nobodyWithoutTheSecret() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        var taken: Set<String> = []
        var seen = 0
        for folder in ["FailCases/webhook", "corpus/webhook"] {
            for file in try FileManager.default.contentsOfDirectory(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            {
                seen += 1
                let lines = [UInt8](try Data(contentsOf: file)).split(
                    separator: 10, maxSplits: 6, omittingEmptySubsequences: false
                ).map(Array.init)
                func line(_ index: Int) -> [UInt8]? {
                    index < lines.count && !lines[index].isEmpty ? lines[index] : nil
                }
                let names = ["Authorization", "Content-Length", "Transfer-Encoding", "Origin"]
                let head = RequestHead(
                    method: String(decoding: line(0) ?? [], as: UTF8.self),
                    version: String(decoding: line(1) ?? [], as: UTF8.self), target: line(2) ?? []
                ) { name in names.firstIndex(of: "\(name)").flatMap { line($0 + 3) } }
                let gatekeeper = Gatekeeper(secret: Secret(Array("the secret of fuzzers".utf8)), bodyLimit: 1000)
                if case .take = gatekeeper.judge(head) { taken.insert(file.lastPathComponent) }
            }
        }
        #expect(seen >= 8 && taken == ["bearer", "basic", "matrix"], "\(taken)")
    }
}
