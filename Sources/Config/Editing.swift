internal import Base

extension Configuration {
    /// The file's text with one setting changed: in its line if there is one, else at the end of its section.
    /// Comments and everything else stay.
    package static func edit(_ text: String, set name: String, to value: String) -> Result<String, ConfigFault> {
        guard let setting = Setting.all.first(where: { $0.name == name }) else {
            let hint = Text.nearest(to: name, in: Setting.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            return .failure(ConfigFault(0, name, "there is no setting \"\(Text.clean(name))\"\(hint) (ringctl config)"))
        }
        var trial = Configuration()
        guard !value.utf8.contains(UInt8(ascii: "\n")), setting.read(value, &trial) else {
            return .failure(
                ConfigFault(0, name, "\(name): \"\(Text.clean(value))\" is not understood; expected \(setting.expects)")
            )
        }
        let new = "\(setting.key) = \(value)"
        var lines = INI.split(text).map(String.init)
        if let known = INI.parse(text).lines.last(where: { $0.section == setting.section && $0.key == setting.key }) {
            lines[known.number - 1] = new
        } else if let last = INI.parse(text).lines.last(where: { $0.section == setting.section }) {
            lines.insert(new, at: last.number)
        } else {
            while lines.last == "" { lines.removeLast() }
            lines += (lines.isEmpty ? [] : [""]) + ["[\(setting.section)]", new]
        }
        if lines.last != "" { lines.append("") }
        let edited = lines.joined(separator: text.contains("\r\n") ? "\r\n" : "\n")
        // What is right by itself may be wrong beside the rest.
        let before = read(text).1.map(\.reason)
        if let fault = read(edited).1.first(where: { $0.key?.hasPrefix("apns.") == true && !before.contains($0.reason) }
        ) {
            return .failure(ConfigFault(0, fault.key, fault.reason))
        }
        return .success(edited)
    }
}

extension ConfigFault: Error {}
