import CJansson
import Foundation
import JSON
import Pushes

// Payloads a second, family by family: found out and read, from the bytes on, beside jansson's parsing of the same bytes
// alone. `ringd-dialect-speed FOLDER`: a line for each, `family bytes jansson whole`.

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "Tests/PushesTests/payloads")
let clock = ContinuousClock()
let start = clock.now
let book = DialectBook.builtIn
if CommandLine.arguments.contains("--start") {
    print("all files read in", clock.now - start)
    exit(0)
}

/// A tenth of a second's worth, at least; the best of three, since whatever else runs only takes away.
func rate(_ work: () -> Void) -> Int {
    var best = 0
    for _ in 0..<3 {
        var count = 0
        let start = clock.now
        var took = Duration.zero
        while took < .milliseconds(100) {
            for _ in 0..<100 { work() }
            count += 100
            took = clock.now - start
        }
        let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
        best = max(best, Int(Double(count) / seconds))
    }
    return best
}

for family in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
    let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "\(family)/valid.json")))
    guard let reading = try? PayloadReader.read(bytes, book: book) else { continue }
    guard reading.dialect == family else { fatalError("\(family) was taken for \(reading.dialect)") }
    let parse = rate {
        var error = json_error_t()
        bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { json_decref(json_loadb($0.baseAddress, $0.count, 0, &error)) }
        }
    }
    let whole = rate { _ = try? PayloadReader.read(bytes, book: book) }
    print(family, bytes.count, parse, whole)
}
