internal import APNs

extension Configuration {
    /// What no line can know by itself. What does not hold is taken back, and named.
    mutating func check(_ lines: [INILine]) -> [ConfigFault] {
        checkDoors(lines) + checkSections(lines)
    }

    /// Beyond loopback, senders must show who they are.
    private mutating func checkDoors(_ lines: [INILine]) -> [ConfigFault] {
        guard apns.certificates == .any else { return [] }
        let doors: [(key: String, path: WritableKeyPath<APNs, [APNs.Listener]>)] = [
            ("binary", \.binary), ("http2", \.http2), ("feedback", \.feedback), ("proxy", \.proxy),
        ]
        return doors.compactMap { key, path in
            guard let open = apns[keyPath: path].first(where: { !$0.isLoopback }) else { return nil }
            apns[keyPath: path] = APNs()[keyPath: path]
            let line = lines.last { $0.section == "apns" && $0.key == key }?.number ?? 1
            let setting = Setting.all.first { $0.name == "apns.\(key)" }
            return ConfigFault(
                line, "apns.\(key)",
                "\(open.host) is not loopback, and anybody may send with certificates = any; write certificates = trusted "
                    + "as well, or 127.0.0.1; \(setting?.text(self) ?? "") is in force")
        }
    }

    /// A key without a file and a fault that does nothing; said once, where a wrong line has not said it.
    private mutating func checkSections(_ lines: [INILine]) -> [ConfigFault] {
        func says(_ kind: String, _ name: String, _ key: String) -> Bool {
            lines.contains { $0.key == key && Self.name($0.section, kind) == name }
        }
        var faults: [ConfigFault] = []
        for (id, key) in apns.keys where key.file.isEmpty {
            apns.keys[id] = nil
            guard !says("key", id, "file") else { continue }
            faults.append(ConfigFault(key.line, "[key \(id)]", "names no file: write file = /…/AuthKey_\(id).p8"))
        }
        for rule in apns.faults where rule.actions.isEmpty && !says("fault", rule.name, "do") {
            let line = lines.first { Self.name($0.section, "fault") == rule.name }?.number ?? 1
            faults.append(ConfigFault(line, "[fault \(rule.name)]", "does nothing: write do = …"))
        }
        apns.faults.removeAll(where: \.actions.isEmpty)
        return faults
    }
}
