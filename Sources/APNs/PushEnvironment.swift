/// Apple's two worlds; a token belongs to one of them.
package enum PushEnvironment: String, Sendable, CaseIterable {
    case sandbox
    case production
    /// A door that does not say: the token has the last word.
    case unknown

    /// By the host name that a sender asked for (SNI or CONNECT, lower case): Apple's sandbox names, Apple's production
    /// names, else unknown.
    package init(serverName: String?) {
        switch serverName {
        case "gateway.sandbox.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
            "feedback.sandbox.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com":
            self = .sandbox
        case "gateway.push.apple.com", "api.push.apple.com", "feedback.push.apple.com",
            "api-manage-broadcast.push.apple.com":
            self = .production
        default: self = .unknown
        }
    }
}
