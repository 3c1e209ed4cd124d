/// Text that came from outside, made fit to be shown.
package enum Text {
    /// At most `limit` bytes of UTF-8, without control characters, line and paragraph separators, bidirectional
    /// overrides (U+202A–202E, U+2066–2069, U+200E/F, U+061C), other invisible format characters and
    /// noncharacters. Line ends and tabs become spaces; runs of space become one. A cut is marked by an ellipsis and
    /// never splits a grapheme.
    package static func clean(_ raw: String, limit: Int = 256) -> String {
        // Ids and topics, which a page of records has by the thousand: nothing is to be done with them.
        if isPlain(raw, limit) { return raw }
        var out = ""
        var size = 0
        var gap = false
        // A grapheme can be megabytes of combining marks: those above eight scalars are cut.
        // Nobody reads beyond, and a hostile text may be megabytes of what is left out.
        for character in raw.prefix(4096) {
            var piece = ""
            for (index, scalar) in character.unicodeScalars.enumerated() where index < 8 && isShown(scalar) {
                piece.unicodeScalars.append(scalar)
            }
            let isSpace = character.isWhitespace || piece.isEmpty && character.unicodeScalars.allSatisfy(isBreak)
            if isSpace {
                gap = true
                continue
            }
            if piece.isEmpty { continue }
            let space = gap && !out.isEmpty ? 1 : 0
            if size + space + piece.utf8.count > limit {
                return out.isEmpty ? "" : out + "…"
            }
            if space == 1 { out.append(" ") }
            gap = false
            out.append(piece)
            size += space + piece.utf8.count
        }
        return out.unicodeScalars.contains(where: isInk) ? out : ""
    }

    /// Visible ASCII with single blanks between, within the limit.
    private static func isPlain(_ raw: String, _ limit: Int) -> Bool {
        raw.utf8.withContiguousStorageIfAvailable { bytes in
            guard bytes.count <= limit else { return false }
            var before = UInt8(ascii: " ")
            for byte in bytes {
                guard byte > 0x20 && byte < 0x7f || byte == 0x20 && before != 0x20 else { return false }
                before = byte
            }
            return before != 0x20 || bytes.isEmpty
        } ?? false
    }

    /// Leaves a mark: Hangul fillers, joiners, Braille blank and the like are shown as nothing.
    private static func isInk(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isDefaultIgnorableCodePoint && scalar.value != 0x2800 && !scalar.properties.isWhitespace
    }

    private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0d, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200d: true  // ZERO WIDTH JOINER: emoji families and Indic scripts need it.
        case 0x200c: true  // ZERO WIDTH NON-JOINER: Persian needs it.
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: false
            default: true
            }
        }
    }

    /// Where `piece` first stands in `text`: how many bytes of UTF-8 are before it. The standard library's own search for a
    /// text in a text brings the whole engine of regular expressions, 1.3 MB, into a program.
    package static func offset(of piece: String, in text: String) -> Int? {
        let piece = Array(piece.utf8)
        let text = Array(text.utf8)
        guard !piece.isEmpty, piece.count <= text.count else { return nil }
        return (0...(text.count - piece.count)).first { text[$0..<($0 + piece.count)].elementsEqual(piece) }
    }

    /// `&<>"'` as entities, for servers that advertise `body-markup` (Desktop Notifications 1.2, section 3).
    package static func escapeMarkup(_ text: String) -> String {
        var out = ""
        for character in text {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            default: out.append(character)
            }
        }
        return out
    }

    /// The candidate nearest to `word`, if it is near enough to be what was meant.
    package static func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
        let ranked = candidates.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
        guard let (best, steps) = ranked, steps <= max(1, min(word.count, best.count) / 3 + 1) else { return nil }
        return best
    }

    /// Levenshtein distance over characters; meant for short words.
    private static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a.prefix(64))
        let b = Array(b.prefix(64))
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let next = min(row[j] + 1, row[j + 1] + 1, diagonal + (x == y ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[b.count]
    }
}
