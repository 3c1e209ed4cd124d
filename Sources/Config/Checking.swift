internal import APNs
internal import Base

extension Configuration {
    /// What no line can know by itself. What does not hold is taken back, and named.
    mutating func check(_ lines: [INILine]) -> [ConfigFault] {
        checkDoors(lines) + checkWebhooks(lines) + checkSections(lines)
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

    /// Beyond loopback, only where it is said twice and the token is not read on its way.
    private mutating func checkWebhooks(_ lines: [INILine]) -> [ConfigFault] {
        guard let open = webhook.listen.first(where: { !$0.isLoopback }) else { return [] }
        let missing: String
        if !webhook.isOpenToNetwork {
            missing = "write open-to-network = yes as well, or 127.0.0.1"
        } else if case .file = webhook.certificate {
            return []
        } else {
            missing = "its token would be read on its way: write certificate = /….pem, of a name that senders use"
        }
        webhook.listen = []
        let line = lines.last { $0.section == "webhook" && $0.key == "listen" }?.number ?? 1
        return [
            ConfigFault(
                line, "webhook.listen", "\(open.host) is not loopback; \(missing); none is in force")
        ]
    }

    /// A key without a file and a fault that does nothing; said once, where a wrong line has not said it.
    private mutating func checkSections(_ lines: [INILine]) -> [ConfigFault] {
        let idle = Set(apns.faults.filter(\.actions.isEmpty).map(\.name))
        let bare = Set(apns.keys.filter(\.value.file.isEmpty).keys)
        guard !idle.isEmpty || !bare.isEmpty else { return [] }
        // One pass: there may be as many lines as a megabyte has.
        var said: Set<String> = []
        var began: [String: Int] = [:]
        for line in lines {
            if let name = Self.name(line.section, "key"), line.key == "file" { said.insert("key \(name)") }
            guard let name = Self.name(line.section, "fault") else { continue }
            if line.key == "do" { said.insert("fault \(name)") }
            began[name] = began[name] ?? line.number
        }
        var faults: [ConfigFault] = []
        for id in bare.sorted() where !said.contains("key \(id)") {
            faults.append(
                ConfigFault(
                    apns.keys[id]?.line ?? 1, "[key \(id)]", "names no file: write file = /…/AuthKey_\(id).p8"))
        }
        for name in idle.sorted() where !said.contains("fault \(name)") {
            faults.append(ConfigFault(began[name] ?? 1, "[fault \(name)]", "does nothing: write do = …"))
        }
        for id in bare { apns.keys[id] = nil }
        apns.faults.removeAll { idle.contains($0.name) }
        return faults
    }
}
