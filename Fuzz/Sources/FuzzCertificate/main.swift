import CFuzzer
import Glibc

@testable import Crypto

/// Any bytes as a certificate, as each of Apple's extensions, and as a file of keys: facts that are fit to show and within
/// limits, or words why not.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var facts = PeerCertificate()
    for tail in ["1", "2", "3", "4", "5", "6", "7"] { facts.take(extension: tail, der: bytes) }
    check(facts)
    if let certificate = try? Certificate(der: bytes) { check(certificate) }
    var material = KeyMaterial()
    do throws(CryptoFailure) {
        try material.add(bytes, file: "fuzz", passwords: ["word"])
        precondition(!material.forms.isEmpty, "a file of no form")
        material.certificates.forEach(check)
        for key in material.keys { precondition(!key.kind.isEmpty, "a key of no kind") }
        _ = try material.identity()
    } catch {
        precondition(!error.message.isEmpty, "a fault without words")
    }
    return 0
}

private func check(_ certificate: Certificate) {
    check(certificate.facts)
    precondition(certificate.facts.fingerprint.count == 32, "no fingerprint")
    precondition(certificate.serverNames.count <= 64, "too many names")
    certificate.serverNames.forEach { check($0, limit: 260) }
    certificate.faultsForVoIP().forEach { precondition(!$0.isEmpty, "a fault without words") }
    precondition(!certificate.role.words.isEmpty && !certificate.keyKind.isEmpty, "nothing to say")
    // Written and read again it is the same.
    if let der = try? certificate.der, let again = try? Certificate(der: der) {
        precondition(again.facts.fingerprint == certificate.facts.fingerprint, "another certificate when read again")
    }
}

private func check(_ facts: PeerCertificate) {
    precondition(facts.voipTopics.count <= 64 && facts.topicKinds.count <= 64, "too many topics")
    precondition(Set(facts.topics).count == facts.topics.count, "a topic twice")
    for text in facts.topics + facts.topicKinds.flatMap(\.kinds) { check(text, limit: 260) }
    for text in [facts.commonName, facts.userID, facts.organizationalUnit, facts.bundle] {
        if let text { check(text, limit: 260) }
    }
    // Up to 16 parts, each with a label.
    for line in [facts.subject, facts.issuer] { check(line, limit: 16 * 300) }
}

private func check(_ text: String, limit: Int) {
    precondition(text.utf8.count <= limit, "a text out of limits")
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .lineSeparator, .paragraphSeparator: preconditionFailure("unfit to show: \(text)")
        default: break
        }
    }
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzCertificate))
