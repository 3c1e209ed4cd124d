internal import Glibc

/// The two standard outputs by descriptor: C's `stderr` is a mutable global that Swift 6 will not touch.
package enum Console {
    /// A line on stderr.
    package static func complain(_ line: String) { write(line + "\n", to: 2) }

    /// Text on stdout, as it is; false if the reader is gone.
    @discardableResult
    package static func write(_ text: String) -> Bool { write(text, to: 1) }

    /// Bytes on stdout; false if the reader is gone.
    package static func write(bytes: [UInt8]) -> Bool { write(bytes[...], to: 1) }

    /// Text on stderr, as it is.
    package static func writeError(_ text: String) { write(text, to: 2) }

    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        write(Array(text.utf8)[...], to: descriptor)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
