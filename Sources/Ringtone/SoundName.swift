/// The name of a sound as a stranger wrote it: checked once, here, and a name ever after, never a path.
struct SoundName: Equatable {
    /// As it was written.
    let text: String

    /// Throws why it is refused; the reason is fit to be shown.
    init(_ text: String) throws(SoundFailure) {
        let bytes = text.utf8
        func refuse(_ cause: String) -> SoundFailure {
            SoundFailure("the sound's name", cause, cure: "send a plain name such as \"marimba-dusk\"")
        }
        guard !bytes.isEmpty else { throw refuse("is empty") }
        guard bytes.count <= 128 else { throw refuse("is longer than 128 bytes") }
        guard !bytes.contains(UInt8(ascii: "/")) else { throw refuse("holds a \"/\": a sound is named, never a path") }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { throw refuse("holds a control character") }
        guard bytes.first != UInt8(ascii: ".") else { throw refuse("begins with a dot") }
        self.text = text
    }

    /// Without what follows the last dot: `weixin` for `weixin.m4a`.
    var stem: String { Self.split(text).stem }

    /// (stem, extension in lower case), the extension empty if there is none.
    static func split(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), name[name.index(after: dot)...].lowercased())
    }
}
