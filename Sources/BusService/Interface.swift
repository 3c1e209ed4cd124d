/// A D-Bus interface as data: what dispatch checks against, and what introspection shows.
package struct BusInterface: Sendable {
    package struct Argument: Sendable {
        let name: String
        let type: String
    }

    package struct Method: Sendable {
        let name: String
        let takes: [Argument]
        let gives: [Argument]
        let summary: String

        var signature: String { takes.map(\.type).joined() }
    }

    package struct Signal: Sendable {
        let name: String
        let carries: [Argument]
        let summary: String
    }

    package struct Property: Sendable {
        let name: String
        let type: String
    }

    package let name: String
    var methods: [Method] = []
    var signals: [Signal] = []
    var properties: [Property] = []

    /// `name:type` pairs, e.g. `"app:s call:a{sv}"`.
    static func method(_ name: String, _ takes: String, _ gives: String, _ summary: String) -> Method {
        Method(name: name, takes: arguments(takes), gives: arguments(gives), summary: summary)
    }

    static func arguments(_ text: String) -> [Argument] {
        text.split(separator: " ").map { (pair: Substring) in
            let colon = pair.firstIndex(of: ":")!
            return Argument(name: String(pair[..<colon]), type: String(pair[colon...].dropFirst()))
        }
    }

    package var methodNames: [String] { methods.map(\.name) }

    var xml: String {
        var out = "  <interface name=\"\(name)\">\n"
        for method in methods {
            out += "    <method name=\"\(method.name)\">\n"
            for argument in method.takes { out += Self.xml(argument, "in") }
            for argument in method.gives { out += Self.xml(argument, "out") }
            out += "    </method>\n"
        }
        for signal in signals {
            out += "    <signal name=\"\(signal.name)\">\n"
            for argument in signal.carries { out += Self.xml(argument, nil) }
            out += "    </signal>\n"
        }
        for property in properties {
            out += "    <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"read\"/>\n"
        }
        return out + "  </interface>\n"
    }

    private static func xml(_ argument: Argument, _ direction: String?) -> String {
        let way = direction.map { " direction=\"\($0)\"" } ?? ""
        return "      <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(way)/>\n"
    }
}
