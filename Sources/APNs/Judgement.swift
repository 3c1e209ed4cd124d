/// What the rules say of a push.
package struct Judgement {
    package var findings: [Finding] = []
    /// The first finding that refuses.
    package var refusal: Finding?
    package var registration: Registration?
    /// Seconds since 1970; 0: not to be kept; nil: nothing said.
    package var expiration: Int64?
    package var priority: UInt8 = 10

    mutating func add(_ code: String, _ reason: PushReason? = nil, _ text: @autoclosure () -> String) {
        add(Finding(code, reason, text()))
    }

    mutating func add(_ finding: Finding) {
        findings.append(finding)
        if refusal == nil && finding.reason != nil { refusal = finding }
    }

    /// What became of an accepted push says more than any advice, and comes before it; but behind a fault that was asked
    /// for. `reason`: the first of them is the refusal.
    mutating func explain(_ more: [Finding], refusing reason: PushReason?) {
        var place = findings.first?.code == PushService.faultCode ? 1 : 0
        for finding in more {
            let isRefusal = reason != nil && refusal == nil
            let said = Finding(finding.code, isRefusal ? reason : nil, finding.text)
            if isRefusal { refusal = said }
            findings.insert(said, at: place)
            place += 1
        }
    }
}
