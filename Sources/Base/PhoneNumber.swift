/// A country whose telephone numbers are written without their calling code at home: ISO 3166-1 alpha-2.
package struct PhoneRegion: Sendable, Hashable {
    /// Two capitals.
    package let code: String
    let plan: PhonePlan

    /// In capitals or small letters; nil for a code without a dialling plan.
    package init?(_ code: String) {
        guard code.utf8.count == 2, code.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
        let capitals = code.uppercased()
        guard let plan = PhonePlan(code: capitals) else { return nil }
        self.code = capitals
        self.plan = plan
    }

    /// Every code that is taken, in order.
    package static var codes: [String] { PhonePlan.codes }

    /// The code that was meant by a calling code (+49), three letters (DEU) or what people say (UK).
    package static func nearest(to word: String) -> String? {
        if let (digits, _) = PhoneDigits.read(word) {
            guard digits.count <= 3, let plan = PhonePlan(callingCodeOf: digits) else { return nil }
            return PhoneDigits(number: plan.callingCode) == digits && plan.code != "00" ? plan.code : nil
        }
        let capitals = word.uppercased()
        return capitals == "UK" ? "GB" : Text.nearest(to: capitals, in: codes)
    }
}

/// Telephone numbers in one form, as ITU-T E.164 has them.
package enum PhoneNumber {
    /// "+49301234567" for what somebody wrote or sent as a number; nil if it is none, or cannot be told: extensions and
    /// short numbers stay what they are. Without a region only what is international already can be told.
    ///
    /// A number of any text takes at most some hundred steps.
    package static func e164(_ text: String, in region: PhoneRegion?) -> String? {
        guard !isAddress(text), let (digits, isInternational) = PhoneDigits.read(text) else { return nil }
        let found = isInternational ? international(digits) : region.flatMap { dialled(digits, $0.plan) }
        // What would be another number when it is read again is no good as a name. E.164 has at most 15 digits.
        guard let found, (5...15).contains(found.count), international(found) == found else { return nil }
        return "+" + found.text
    }

    /// `192.168.1.10` is a computer's address (RFC 791) rather than a number with dots in it: what monitoring calls an
    /// instance. Four pairs of digits may be a number, as some write it.
    package static func isAddress(_ text: String) -> Bool {
        guard text.utf8.count <= 15 else { return false }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && !parts.allSatisfy { $0.count == 2 }
            && parts.allSatisfy { part in
                guard part.allSatisfy({ (0x30...0x39).contains($0) }), part.first != 0x30 || part.count == 1 else {
                    return false
                }
                return UInt8(String(decoding: part, as: UTF8.self)) != nil
            }
    }

    /// How a number in E.164 may be written in the region itself; empty for a foreign one.
    package static func national(_ e164: String, in region: PhoneRegion) -> [String] {
        let plan = region.plan
        let code = PhoneDigits(number: plan.callingCode)
        guard case (let digits, true)? = PhoneDigits.read(e164), digits.starts(with: code) else { return [] }
        let number = digits.dropFirst(code.count).text
        let prefix = plan.nationalPrefix
        if prefix.isEmpty { return [number] }
        return plan.isPrefixWritten ? [prefix + number] : [prefix + number, number]
    }

    /// Digits behind a plus, or behind what stands for it.
    private static func international(_ digits: PhoneDigits) -> PhoneDigits? {
        guard let plan = PhonePlan(callingCodeOf: digits) else { return nil }
        let code = PhoneDigits(number: plan.callingCode)
        // Many write the national prefix all the same: +49 (0)30.
        let number = plan.significant(digits.dropFirst(code.count), isAbroad: true)
        guard plan.fit(number) == .possible else { return nil }
        return code.appending(number)
    }

    /// As one dials within the plan.
    private static func dialled(_ digits: PhoneDigits, _ plan: PhonePlan) -> PhoneDigits? {
        if let size = plan.outwardPrefix(digits) { return international(digits.dropFirst(size)) }
        let code = PhoneDigits(number: plan.callingCode)
        if digits.starts(with: code) {
            // International, but for the plus.
            let rest = plan.stripped(digits.dropFirst(code.count), isAbroad: true)
            // Where a number of here would have its prefix, this is how senders write E.164 without a plus.
            if plan.isShaped(rest) && (plan.isPrefixWritten || !plan.isShaped(digits)) || plan.fit(digits) == .tooLong {
                let number = plan.significant(rest, isAbroad: true)
                return plan.fit(number) == .possible ? code.appending(number) : nil
            }
        }
        let number = plan.significant(digits, isAbroad: false)
        guard plan.fit(number) == .possible else { return nil }
        // A prefix says that a whole number follows it; so does the 0 that belongs to numbers where there is none.
        let isWhole = number != digits || digits[0] == 0
        guard number.count >= (isWhole ? min(6, plan.least) : plan.least) else { return nil }
        // Without the prefix that people here write, it is of another town, or of another country without its plus: to call
        // it back as ours would reach somebody else.
        return isWhole || !plan.isPrefixWritten && plan.isShaped(number) ? code.appending(number) : nil
    }
}
