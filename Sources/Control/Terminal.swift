internal import Glibc

/// The controlling terminal in raw mode on its alternate screen; put back as it was when this object ends.
final class Terminal {
    private var before = termios()

    /// nil if stdin or stdout is no terminal.
    init?() {
        guard isatty(0) == 1, isatty(1) == 1, tcgetattr(0, &before) == 0 else { return nil }
        var raw = before
        // Keys one by one, without echo; Ctrl-C stays a signal.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(0, TCSAFLUSH, &raw)
        // Alternate screen, no cursor, no line wrap.
        put("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")
    }

    deinit {
        put("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
        tcsetattr(0, TCSAFLUSH, &before)
    }

    var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Of standard output, where it is a terminal that says so.
    static var width: Int? {
        var size = winsize()
        guard isatty(1) == 1, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Draws all lines from the top; each is cleared to its end.
    func draw(_ lines: [String]) {
        put("\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J")
    }

    /// What was typed; empty at the end of input.
    func keys() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(0, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : []
    }

    private func put(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
