import Base
import Foundation
import JSON
import Pushes
import Testing

/// Dialect files, each with a payload behind a line of dashes, that broke the reader once or stand for a kind that must
/// not. Found by `Scripts/fuzz`.
struct DialectFailCases {
    @Test func areHarmless() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        var count = 0
        for folder in ["FailCases/dialect", "corpus/dialect"] {
            let files = try? FileManager.default.contentsOfDirectory(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            for file in files ?? [] {
                let parts = String(decoding: try Data(contentsOf: file), as: UTF8.self).components(
                    separatedBy: "\n---\n")
                let (book, faults) = DialectBook.builtIn.adding([("mine", parts[0])])
                #expect((book["mine"] == nil) != faults.isEmpty, "\(file.lastPathComponent)")
                guard parts.count > 1, let json = try? JSONValue.parse(parts[1]) else { continue }
                count += 1
                let reading = try? book.read(json, .init(dialect: "mine"))
                for text in [reading?.signal.callerName, reading?.signal.handle] {
                    #expect(text.map { !$0.isEmpty && $0.utf8.count <= 260 } ?? true, "\(file.lastPathComponent)")
                }
                var call = CallSignal()
                call.callerName = "Alice"
                call.key = "1"
                if let written = try? book["mine"]?.write(call) {
                    #expect((try? JSONValue.parse(written.encoded())) != nil, "\(file.lastPathComponent)")
                }
            }
        }
        #expect(count >= 8)
    }
}
