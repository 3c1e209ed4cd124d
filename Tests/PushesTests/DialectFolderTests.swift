import Base
import Foundation
import Glibc
import JSON
import Pushes
import Testing

/// What people may put into the folder of dialects.
struct DialectFolderTests {
    @Test func whatCannotBeUsedIsNamed() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dialects-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func make(_ name: String, _ bytes: [UInt8]) throws {
            try Data(bytes).write(to: folder.appending(path: name + ".dialect"))
        }
        let good = "[dialect]\ntitle = T\n[detect]\nneed = /a\n[call]\nid = /a\nname = /a\n"
        try make("good", Array(good.utf8))
        try make("latin", Array("\(good)[kind /k]\nVerpa".utf8) + [0xdf] + Array("t = missed\n".utf8))
        try make("huge", [UInt8](repeating: 0x23, count: 70_000))
        try make("\u{1b}[2J", Array(good.utf8))
        try FileManager.default.createDirectory(
            at: folder.appending(path: "folder.dialect"), withIntermediateDirectories: true)
        try #require(mkfifo(folder.appending(path: "pipe.dialect").path, 0o600) == 0)
        try #require(symlink("/dev/zero", folder.appending(path: "zero.dialect").path) == 0)
        try #require(symlink("/nowhere", folder.appending(path: "dangling.dialect").path) == 0)
        try make(".hidden", Array("x".utf8))

        let (book, faults) = DialectBook.installed(in: folder.path)
        #expect(book.dialects.filter(\.isOwn).map(\.name) == ["good"])
        for (name, word) in [
            ("latin", "UTF-8"), ("huge", "larger"), ("folder", "ordinary"), ("pipe", "ordinary"), ("zero", "ordinary"),
            ("dangling", "cannot be read"), ("[2J", "lower-case"),
        ] {
            #expect(faults.contains { $0.contains("\(name).dialect") && $0.contains(word) }, "\(name): \(faults)")
        }
        #expect(faults.count == 7)
        #expect(!faults.contains { $0.utf8.contains(0x1b) })
    }

    /// Thirty patterns of the worst kind cost no more than reading the text does; by the naive way this takes minutes.
    @Test(.timeLimit(.minutes(1))) func patternsAreHeldAgainstTextInOnePass() throws {
        let a = { (count: Int) in String(repeating: "a", count: count) }
        let lines = (0..<30).map { "*\(a(600 + $0))b*\(a(600))b*\(a(600))c* = cancel\n" }.joined()
        let file = "[dialect]\ntitle = S\n[detect]\nneed = /st\n[call]\nid = /id\nname = /st\n[kind /st]\n" + lines
        let (book, faults) = DialectBook.builtIn.adding([("stars", file)])
        #expect(faults.isEmpty)
        func kind(_ text: String) throws -> CallSignal.Kind {
            try book.read(.object(("id", "1"), ("st", .string(text)))).signal.kind
        }
        for _ in 0..<10 { #expect(try kind(a(8000)) == .invite) }
        #expect(try kind(a(700) + "b" + a(600) + "b" + a(601) + "c") == .cancel)
        #expect(try kind(a(700) + "b" + a(600) + "b" + a(599) + "c") == .invite)
    }
}
