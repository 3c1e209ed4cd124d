/// A command line's words, as systemd's ExecStart splits them: blanks separate, quotes join, a backslash escapes.
/// There are no variables, no globs and no shell.
enum Words {
    /// nil if a quote is left open.
    static func split(_ text: String) -> [String]? {
        var words: [String] = []
        var word = ""
        var isInWord = false
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                word.append(character)
                isEscaped = false
            } else if character == "\\" && quote != "'" {
                isEscaped = true
                isInWord = true
            } else if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                isInWord = true
            } else if character.isWhitespace {
                if isInWord { words.append(word) }
                word = ""
                isInWord = false
            } else {
                word.append(character)
                isInWord = true
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if isInWord { words.append(word) }
        return words
    }
}
