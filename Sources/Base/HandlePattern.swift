/// Placeholder until merged.
package struct HandlePattern: Sendable, Hashable {
    package let text: String
    package init?(_ text: String) { self.text = text }
    package func matches(_ handle: String?) -> Bool { false }
    package static func normalise(_ handle: String) -> String { handle }
}
