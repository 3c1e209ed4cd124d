internal import Base

/// `[calls]`.
extension Setting {
    static let calls: [Setting] = [
        Setting(
            section: "calls", key: "region", expects: "a country's two letters, like DE or US",
            help:
                "The country whose numbers are written without +; they become international, and match so written too.",
            whenEmpty: "none",
            hint: { word in PhoneRegion.nearest(to: word).map { "; did you mean \($0)?" } ?? "" },
            read: { text, c in
                let region = PhoneRegion(text)
                guard text.isEmpty || region != nil else { return false }
                c.region = region
                return true
            }, write: { $0.region?.code ?? "" })
    ]
}
