internal import Glibc

/// An errno, with what was being done.
package struct SocketFailure: Error {
    package let code: Int32
    package let doing: String

    package init(_ doing: String, code: Int32) {
        self.code = code
        self.doing = doing
    }

    /// With the errno of the call just made.
    init(_ doing: String) { self.init(doing, code: errno) }

    package var text: String { "\(doing): \(String(cString: strerror(code)))" }
}
