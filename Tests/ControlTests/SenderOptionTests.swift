import Base
import TestSupport
import Testing

/// Options of `push --via` and of the device verbs that mean nothing: said before anything is sent.
struct SenderOptionTests {
    private let home = Scratch()

    @Test(arguments: [
        ("push --via binary --token aa --caller A --expiration soon", "0 to 4294967295"),
        ("push --via binary --token aa --caller A --expiration 4294967296", "0 to 4294967295"),
        ("push --via binary --token aa --caller A --expiration=-5", "0 to 4294967295"),
        ("push --via binary --token aa --caller A --bench 5 --expiration soon", "0 to 4294967295"),
        ("push --via http2 --token aa --caller A --gateway a\u{1b}[31mb", "HOST or HOST:PORT"),
        ("push --via http2 --token aa --caller A --gateway a\u{9b}31m:443", "HOST or HOST:PORT"),
        ("device tokens --kind loud", "voip or alert"),
        ("device tokens --environment testing", "sandbox or production"),
    ])
    func whatMeansNothingIsRefused(_ line: String, _ words: String) throws {
        let outcome = try attempt(
            Tree.program("ringctl"), line.split(separator: " ").map(String.init),
            environment: ["HOME": home.path, "LC_ALL": "C.UTF-8"], isWhole: true)
        #expect(outcome.status == 2 && outcome.complaint.contains(words), "\(outcome.all)")
        #expect(!outcome.all.unicodeScalars.contains { $0.value == 0x1b || $0.value == 0x9b })
    }
}
