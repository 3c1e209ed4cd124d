internal import Base
internal import JSON

/// A push in a file, as `xcrun simctl push` and Xcode's simulator take them: the payload, with the app in
/// `Simulator Target Bundle`. ringd's own: `apns-…` members beside it, which become headers (apns.md 3.3).
package struct ApnsFile: Sendable, Equatable {
    package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// The app's bundle id, if the file names it.
    package var bundle: String?
    /// Lower-case names with their values as text.
    package var headers: [(name: String, value: String)] = []
    /// What is sent: the file without those.
    package var payload: String

    package static func == (a: ApnsFile, b: ApnsFile) -> Bool {
        a.bundle == b.bundle && a.payload == b.payload && a.headers.elementsEqual(b.headers) { $0 == $1 }
    }

    /// Reads a file's text. What is not a JSON object is refused; a file without any of our members is sent as it is.
    package init(_ text: String) throws(Fault) {
        let json: JSONValue
        do throws(JSONFailure) { json = try JSONValue.parse(text) } catch {
            throw Fault(description: "the push is not JSON: \(error)")
        }
        guard case .object(let members) = json else { throw Fault(description: "a push is a JSON object: { … }") }
        var rest: [JSONValue.Member] = []
        for member in members {
            let name = member.name.lowercased()
            if member.name == "Simulator Target Bundle" {
                bundle = member.value.string
            } else if name.hasPrefix("apns-") {
                guard name.utf8.count <= 64, name.utf8.allSatisfy(Self.isOfName) else {
                    throw Fault(description: "\(Text.clean(member.name, limit: 64)) cannot be a header's name")
                }
                headers.append((name, try Self.text(member)))
            } else {
                rest.append(member)
            }
        }
        payload = rest.count == members.count ? text : JSONValue.object(rest).encoded()
    }

    /// Letters (already lower case), digits and hyphens.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    private static func text(_ member: JSONValue.Member) throws(Fault) -> String {
        switch member.value {
        case .string(let text) where text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) && text.utf8.count <= 256:
            return text
        case .integer(let number): return String(number)
        default: throw Fault(description: "\(Text.clean(member.name, limit: 64)) is to be a number or a short text")
        }
    }
}
