import Base
import JSON
import Pushes
import Testing

/// The files that come with ringd, and what is wrong with others.
struct DialectFileTests {
    @Test(arguments: DialectBook.builtInNames)
    func ours(_ name: String) throws {
        let text = try #require(DialectBook.text(of: name))
        let (dialect, faults) = DialectFile.read(text, name: name, base: DialectBook.text(of:))
        #expect(faults.isEmpty)
        #expect(dialect?.title.isEmpty == false)
    }
}
