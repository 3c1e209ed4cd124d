/// Why nothing could be sent, in words with the cure.
package struct SendFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
