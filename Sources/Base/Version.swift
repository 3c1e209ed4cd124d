/// What this is: daemon, tools and the modules that apps are built with.
package enum Version {
    package static let text = "0.1.0"

    /// `0.1`: apps and daemon speak the same language if this is the same.
    package static var minor: String { text.split(separator: ".").prefix(2).joined(separator: ".") }
}
