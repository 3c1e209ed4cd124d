/// The rule for an app id, which becomes part of a bus name, a certificate and a file name.
package enum AppID {
    /// Reverse-DNS, as APNs topics and D-Bus names have it: two or more elements of letters, digits, `-` and `_`, joined
    /// by dots, none of them empty or with a leading `-`. At most 246 bytes, so that `voip-<app>.pem` is a file name.
    package static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= 246 else { return false }
        let elements = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return elements.count >= 2
            && elements.allSatisfy { element in
                guard let first = element.first, first != UInt8(ascii: "-") else { return false }
                return element.allSatisfy(isAllowed)
            }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
