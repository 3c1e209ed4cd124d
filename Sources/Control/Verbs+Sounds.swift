internal import Base
internal import DBus
internal import JSON

extension Verbs {
    static let soundVerbs = [
        Verb(
            name: "sounds", summary: "Ringtones that can be named.", example: "ringctl sounds"
        ) { _, session throws(Refusal) in
            let sounds = try session.monitor("Sounds").first?.elements ?? []
            if session.isJSON { return try session.say(.array(sounds.map(\.json))) }
            if sounds.isEmpty { return try session.say("no sounds are installed; a generated chime rings") }
            for sound in sounds {
                let mark = sound["current"]?.flag == true ? session.style(.green, "♪") : " "
                try session.say(
                    "\(mark) \((sound["name"]?.text ?? "").rightPadded(to: 26))\((sound["origin"]?.text ?? "").rightPadded(to: 8))\(sound["path"]?.text ?? "")"
                )
            }
        },
        Verb(
            name: "sounds add", takes: "FILE", summary: "Install a sound, of nearly any format.",
            details: """
                wav, flac, ogg, opus, mp3, m4a, aiff, caf.
                """,
            example: "ringctl sounds add weixin.m4a", count: 1...1
        ) { invocation, session throws(Refusal) in
            let path = OutputFile.absolute(invocation.arguments[0])
            let name = try session.monitor("AddSound", [.string(path)], timeout: .seconds(90)).first?.text ?? ""
            if session.isJSON { return try session.say(.object(("name", .string(name)))) }
            try session.say(
                "installed: \(name)  (hear it: ringctl sounds play \(name); ring with it: ringctl config set sound.ringtone \(name))"
            )
        },
        Verb(
            name: "sounds play", takes: "[NAME]", summary: "Play a sound once; your ringtone, if none is named.",
            example: "ringctl sounds play phone-incoming-call", count: 0...1
        ) { invocation, session throws(Refusal) in
            _ = try session.monitor(
                "PlaySound", [.string(invocation.arguments.first ?? "")], timeout: .seconds(90))
            if session.isJSON { try session.say(.object(("done", true))) }
        },
    ]
}
