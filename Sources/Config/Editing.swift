package import Base

extension Configuration {
    /// The file's text with one setting changed: in its line if there is one, else at the end of its section.
    /// Comments and everything else stay.
    package static func edit(_ text: String, set name: String, to value: String) -> Result<String, ConfigFault> {
        guard let setting = Setting.all.first(where: { $0.name == name }) else { return .failure(unknown(name)) }
        if setting.isDoor, value.allSatisfy(\.isWhitespace) {
            return .failure(ConfigFault(0, name, "\(name): say none to close a door; expected \(setting.expects)"))
        }
        var trial = Configuration()
        guard !value.utf8.contains(UInt8(ascii: "\n")), setting.read(value, &trial) else {
            return .failure(
                ConfigFault(
                    0, name,
                    "\(name): \"\(Text.clean(value))\" is not understood; expected \(setting.expects)\(setting.hint(value))"
                ))
        }
        let new = "\(setting.key) = \(value)"
        var lines = INI.split(text).map(String.init)
        if let known = INI.configuration(text).lines.last(where: {
            $0.section == setting.section && $0.key == setting.key
        }) {
            lines[known.number - 1] = new
        } else if let last = INI.configuration(text).lines.last(where: { $0.section == setting.section }) {
            lines.insert(new, at: last.number)
        } else {
            while lines.last == "" { lines.removeLast() }
            lines += (lines.isEmpty ? [] : [""]) + ["[\(setting.section)]", new]
        }
        return checked(lines, before: text)
    }

    /// The file's text without any line of one setting, whose default is in force then. Comments and everything else stay.
    package static func edit(_ text: String, unset name: String) -> Result<String, ConfigFault> {
        guard let setting = Setting.all.first(where: { $0.name == name }) else { return .failure(unknown(name)) }
        var lines = INI.split(text).map(String.init)
        let known = INI.configuration(text).lines.filter { $0.section == setting.section && $0.key == setting.key }
        for line in known.reversed() { lines.remove(at: line.number - 1) }
        return known.isEmpty ? .success(text) : checked(lines, before: text)
    }

    private static func unknown(_ name: String) -> ConfigFault {
        let hint = Text.nearest(to: name, in: Setting.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        return ConfigFault(0, name, "there is no setting \"\(Text.clean(name))\"\(hint) (ringctl config)")
    }

    private static func checked(_ parts: [String], before text: String) -> Result<String, ConfigFault> {
        let isLast = parts.last == "" || parts.isEmpty
        let edited = (parts + (isLast ? [] : [""])).joined(separator: text.contains("\r\n") ? "\r\n" : "\n")
        // What is right by itself may be wrong beside the rest.
        let before = read(text).1.map(\.reason)
        let fault = read(edited).1.first { fault in
            (fault.key?.hasPrefix("apns.") == true || fault.key == "webhook.listen") && !before.contains(fault.reason)
        }
        if let fault {
            return .failure(ConfigFault(0, fault.key, fault.reason))
        }
        return .success(edited)
    }
}

extension ConfigFault: Error {}
