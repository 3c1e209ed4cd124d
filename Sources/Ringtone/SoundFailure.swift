/// Why a sound cannot be had: cause and cure in one line.
package struct SoundFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file or name it is about.
    package let subject: String
    package let cause: String
    package let cure: String

    package init(_ subject: String, _ cause: String, cure: String) {
        self.subject = subject
        self.cause = cause
        self.cure = cure
    }

    package var description: String { "\(subject): \(cause); \(cure)" }
}
