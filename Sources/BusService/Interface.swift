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

    var xml: String { xml(isDocumented: false) }

    /// The interface as a file of `share/dbus-1/interfaces`, for code generators and readers.
    package var file: String {
        """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <!-- Made from Sources/BusService/Interfaces.swift; Docs/dbus.md says more. -->
        <node>
        \(xml(isDocumented: true))</node>

        """
    }

    private func xml(isDocumented: Bool) -> String {
        func document(_ summary: String) -> String {
            guard isDocumented, !summary.isEmpty else { return "" }
            return "      <annotation name=\"org.gtk.GDBus.DocString\" value=\"\(Self.escaped(summary))\"/>\n"
        }
        var out = "  <interface name=\"\(name)\">\n"
        for method in methods {
            out += "    <method name=\"\(method.name)\">\n" + document(method.summary)
            for argument in method.takes { out += Self.xml(argument, "in") }
            for argument in method.gives { out += Self.xml(argument, "out") }
            out += "    </method>\n"
        }
        for signal in signals {
            out += "    <signal name=\"\(signal.name)\">\n" + document(signal.summary)
            for argument in signal.carries { out += Self.xml(argument, nil) }
            out += "    </signal>\n"
        }
        for property in properties {
            out += "    <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"read\"/>\n"
        }
        return out + "  </interface>\n"
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for character in text {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case "\"": out += "&quot;"
            default: out.append(character)
            }
        }
        return out
    }

    private static func xml(_ argument: Argument, _ direction: String?) -> String {
        let way = direction.map { " direction=\"\($0)\"" } ?? ""
        return "      <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(way)/>\n"
    }
}
