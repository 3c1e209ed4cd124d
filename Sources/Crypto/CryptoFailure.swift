internal import COpenSSL

/// Why something of `Crypto` could not be done. Never holds a key or a passphrase.
package struct CryptoFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure, for a caller that acts on it.
    package enum Code: Sendable {
        /// OpenSSL refused; `reasons` says why.
        case library
        /// A file could not be read or written.
        case file
        /// The text holds no certificate, no key, or an encrypted key and no passphrase for it.
        case pem
        /// The private key does not belong to the certificate.
        case keyMismatch
        /// The key is of a kind that is of no use there.
        case algorithm
        /// What is encrypted was given no password, or not the right one.
        case password
        /// It is encrypted in a way that OpenSSL's legacy provider knows, if any does, and that is not there.
        case oldAlgorithm
        /// Opening it would take longer than anybody waits.
        case tooMuch
        /// The app id has characters or a length that no app id has.
        case appID
    }

    package let code: Code
    /// What was being done, and the cure where there is one.
    package let message: String
    /// OpenSSL's own words, oldest first.
    package let reasons: [String]

    package init(_ code: Code, _ message: String, reasons: [String] = []) {
        self.code = code
        self.message = message
        self.reasons = reasons
    }

    package var description: String {
        reasons.isEmpty ? message : message + ": " + reasons.joined(separator: "; ")
    }

    /// A failure of the call that has just returned, with what OpenSSL says of it.
    static func library(_ doing: String) -> CryptoFailure {
        CryptoFailure(.library, doing, reasons: ErrorStack.drain().map(\.text))
    }

    /// `pointer`, or the failure of the call that returned it.
    static func check<T>(_ pointer: T?, _ doing: @autoclosure () -> String) throws(CryptoFailure) -> T {
        guard let pointer else { throw library(doing()) }
        return pointer
    }

    /// OpenSSL returns 1 or more for success.
    static func check(_ result: Int32, _ doing: @autoclosure () -> String) throws(CryptoFailure) {
        guard result > 0 else { throw library(doing()) }
    }
}

/// OpenSSL's error stack, which is per thread and keeps what nobody took.
enum ErrorStack {
    struct Entry {
        /// `ERR_GET_REASON` where the library is SSL, else 0.
        let tlsReason: Int32
        /// No provider that is loaded has the algorithm.
        let isUnsupported: Bool
        let text: String
    }

    /// Everything on the stack, oldest first; it is empty afterwards.
    static func drain() -> [Entry] {
        var entries: [Entry] = []
        var data: UnsafePointer<CChar>?
        var flags: Int32 = 0
        while true {
            let code = ERR_get_error_all(nil, nil, nil, &data, &flags)
            if code == 0 { return entries }
            var text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
            if let data, flags & ERR_TXT_STRING != 0, data.pointee != 0 { text += " (\(String(cString: data)))" }
            let isTLS = ERR_GET_LIB(code) == ERR_LIB_SSL
            entries.append(
                Entry(
                    tlsReason: isTLS ? ERR_GET_REASON(code) : 0, isUnsupported: copenssl_is_unsupported(code) == 1,
                    text: text))
        }
    }

    /// To be called before a TLS operation: SSL_get_error(3) reads the stack.
    static func clear() { ERR_clear_error() }
}
