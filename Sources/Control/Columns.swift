/// How wide text is on a terminal, and how to make it fit.
enum Columns {
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    /// `text` cut to at most `limit` columns, the cut marked, or padded to exactly that.
    static func fit(_ text: String, _ limit: Int) -> String {
        guard limit > 0 else { return "" }
        let whole = width(text)
        if whole <= limit { return text + String(repeating: " ", count: limit - whole) }
        var out = ""
        var used = 0
        for character in text {
            let next = width(character)
            if used + next > limit - 1 { break }
            out.append(character)
            used += next
        }
        return out + "…" + String(repeating: " ", count: limit - used - 1)
    }

    /// 2 for East Asian wide and emoji (Unicode Standard Annex 11, roughly), 1 for the rest.
    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
            0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f,
            0x1f680...0x1faff, 0x20000...0x3fffd:
            return 2
        default: return 1
        }
    }
}
