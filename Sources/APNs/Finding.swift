/// One thing that there is to say of a push: why it was refused, or what would make trouble at Apple or on a phone.
package struct Finding: Sendable, Equatable {
    /// For programs: a word that stays, e.g. `alert-token`.
    package let code: String
    /// Nil: an advice, the push is taken all the same.
    package let reason: PushReason?
    /// For people: cause and cure.
    package let text: String

    package init(_ code: String, _ reason: PushReason? = nil, _ text: String) {
        self.code = code
        self.reason = reason
        self.text = text
    }
}
