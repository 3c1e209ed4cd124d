internal import Base

extension INI {
    /// Of `ringd.conf`, where the lists of callers are a line each.
    static func configuration(_ text: String) -> (lines: [INILine], faults: [ConfigFault]) {
        let list = HandlePattern.mostInList * (HandlePattern.longest + 2)
        return parse(text, lineLimits: ["screening": lineLimit + list])
    }
}
