internal import APNs

/// `[apns]`.
extension Setting {
    private typealias Listener = Configuration.APNs.Listener
    private typealias Place<Value> = any WritableKeyPath<Configuration.APNs, Value> & Sendable

    private static func apns(
        _ key: String, _ expects: String, _ help: String, whenEmpty: String = "",
        read: @escaping @Sendable (String, inout Configuration.APNs) -> Bool,
        write: @escaping @Sendable (Configuration.APNs) -> String
    ) -> Setting {
        Setting(
            section: "apns", key: key, expects: expects, help: help, whenEmpty: whenEmpty,
            read: { read($0, &$1.apns) }, write: { write($0.apns) })
    }

    /// A list of places to listen on.
    private static func door(
        _ key: String, _ help: String, _ path: Place<[Listener]>,
        hasProfile: Bool = true
    ) -> Setting {
        apns(
            key, hasProfile ? Listener.grammar : "none, or HOST:PORT [optional], …",
            "\(help) Beyond loopback only with certificates = trusted.",
            read: { text, c in
                guard let list = Listener.list(text, hasProfile: hasProfile) else { return false }
                c[keyPath: path] = list
                return true
            }, write: { Listener.text($0[keyPath: path], hasProfile: hasProfile) })
    }

    private static func count(
        _ key: String, _ range: ClosedRange<Int>, _ help: String,
        _ path: Place<Int>
    ) -> Setting {
        apns(
            key, "\(range.lowerBound)…\(range.upperBound)", help,
            read: { text, c in whole(text, range) { c[keyPath: path] = $0 } }, write: { String($0[keyPath: path]) })
    }

    private static func time(
        _ key: String, _ range: ClosedRange<Double>, _ help: String,
        _ path: Place<Duration>
    ) -> Setting {
        apns(
            key, "\(Int(range.lowerBound))…\(Int(range.upperBound)) seconds", help,
            read: { text, c in seconds(text, range) { c[keyPath: path] = $0 } }, write: { number($0[keyPath: path]) })
    }

    static let doors: [Setting] = [
        door("binary", "Where the legacy binary APNs protocol is served.", \.binary),
        door(
            "http2",
            "Where the HTTP/2 provider API is served. Where an optional one may not be bound, as 443, it is left out.",
            \.http2),
        door("feedback", "Where the legacy feedback service is.", \.feedback),
        door(
            "proxy", "Where an HTTP proxy (CONNECT) leads Apple's host names to ringd, and no others.", \.proxy,
            hasProfile: false),
        apns(
            "certificates", "any or trusted",
            "Whose client certificates are taken: any, or ringd's own and authorities'.",
            read: { text, c in choice(text) { c.certificates = $0 } }, write: { $0.certificates.rawValue }),
        apns(
            "authorities", "at most 8 PEM files by their whole paths, with commas between",
            "Authorities whose client certificates are trusted beside those of ringd's own.", whenEmpty: "ringd's own",
            read: { text, c in
                let paths = text.split(separator: ",").map { part in
                    String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
                }
                guard paths.count <= 8, paths.allSatisfy(isPath) else { return false }
                c.authorities = paths
                return true
            }, write: { $0.authorities.joined(separator: ", ") }),
    ]

    static let limits: [Setting] = [
        count(
            "rate", 0...100_000,
            "Binary pushes per second that one connection may send, after twice as many at once; 0 for no limit.",
            \.rate),
        count(
            "streams", 1...10_000, "Streams at a time for an HTTP/2 sender that has shown a good provider token.",
            \.streams),
        count("first-streams", 1...10_000, "And before that; Apple's has one.", \.firstStreams),
        apns(
            "slow-down", "yes or no", "One stream at a time after a refused push, until one is taken.",
            read: { text, c in flag(text) { c.slowsDown = $0 } }, write: { word($0.slowsDown) }),
        count(
            "error-limit", 0...100_000, "A connection is closed after so many refused pushes; 0 for never.",
            \.errorLimit),
        apns(
            "stream-violation", "refuse or goaway",
            "What a sender with too many streams gets: REFUSED_STREAM, or GOAWAY with Apple's words.",
            read: { text, c in choice(text) { c.streamViolation = $0 } }, write: { $0.streamViolation.rawValue }),
        count("connections", 1...65_536, "Connections at a time, over all doors.", \.connections),
        time("idle", 1...604_800, "A connection that says nothing for so long is closed.", \.idle),
        apns(
            "binary-payload-limit", "256, 2048 or 5120",
            "Bytes of a binary push's payload: Apple took 256, from 2014 on 2048; a VoIP push has 5120.",
            read: { text, c in
                guard let value = Int(text), [256, 2048, 5120].contains(value) else { return false }
                c.binaryPayloadLimit = value
                return true
            }, write: { String($0.binaryPayloadLimit) }),
    ]

    static let rules: [Setting] = [
        time(
            "token-lifetime", 1...31_536_000, "A provider token is good for so long after its iat.", \.tokenLifetime),
        time(
            "token-updates", 0...86_400,
            "A connection may show a new provider token this often; 0 for whenever it likes.", \.tokenUpdates),
        count(
            "device-rate", 0...100_000,
            "Pushes per second to one device token, after twice as many at once; 0 for no limit.", \.deviceRate),
        time(
            "unregister-delay", 0...2_592_000,
            "Pushes to a removed app are still taken for so long; Apple takes hours to days.", \.unregisterDelay),
        time("power-saving", 0...3600, "Pushes of priority 5 and 1 wait so long, to come together.", \.powerSaving),
        apns(
            "bad-environment-key-reason", "BadEnvironmentKeyIdInToken or BadEnvironmentKeyInToken",
            "The spelling: the documentation's, or the live service's.",
            read: { text, c in
                switch text {
                case "BadEnvironmentKeyIdInToken": c.saysBadEnvironmentKeyInToken = false
                case "BadEnvironmentKeyInToken": c.saysBadEnvironmentKeyInToken = true
                default: return false
                }
                return true
            }, write: { $0.saysBadEnvironmentKeyInToken ? "BadEnvironmentKeyInToken" : "BadEnvironmentKeyIdInToken" }),
    ]

    /// A whole path of a reasonable size.
    static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= 1024 && !text.utf8.contains(0)
    }
}
