import Base
import Config
import Testing

struct ScreeningConfigTests {
    @Test func theSectionIsRead() throws {
        let (configuration, faults) = Configuration.read(
            """
            [screening]
            do-not-disturb = refuse
            switch = on
            vip = +49 30*, boss@example.com
            block = *@spam.example, anonymous
            known = *@example.com
            unknown = silent
            repeat = 0.5
            """)
        let screening = configuration.screening
        #expect(faults.isEmpty && screening.doNotDisturb == .refuse && screening.switch == .on)
        #expect(screening.unknown == .silent && screening.repeat == .seconds(30))
        #expect(screening.vip.contains { $0.matches("003012") } == false)
        #expect(screening.vip.contains { $0.matches("0049301") })
        #expect(screening.block.contains { $0.matches("") } && screening.known.count == 1)
        #expect(Configuration().screening.repeat == .seconds(180) && Configuration().screening.switch == .auto)
    }

    @Test(arguments: [
        "do-not-disturb = loud", "switch = yes", "vip = a,,b", "unknown =", "repeat = 61", "repeat = -1", "repeat = x",
        "repeat = nan", "blok = a",
    ])
    func wrongLinesAreNamed(_ line: String) {
        let (configuration, faults) = Configuration.read("[screening]\n\(line)")
        #expect(faults.map(\.line) == [2] && configuration == Configuration())
    }

    @Test func aThousandPatternsFit() throws {
        let line =
            "block = " + Array(repeating: String(repeating: "a", count: 256), count: 1000).joined(separator: ", ")
        let (configuration, faults) = Configuration.read("[screening]\n\(line)\n")
        #expect(faults.isEmpty && configuration.screening.block.count == 1000)
        let (_, tooMany) = Configuration.read("[screening]\n\(line), a\n")
        // The line is not repeated whole.
        #expect(tooMany.count == 1 && tooMany[0].reason.utf8.count < 1000)
        #expect(Configuration.read("[ring]\n\(line)\n").1.count == 1)
    }

    @Test func appsHaveTheirHabits() {
        let (configuration, faults) = Configuration.read(
            """
            [app a.b]
            busy = busy
            glare = lesser-id
            recall = yes
            must-report = strict
            dialect = twilio
            plain = no
            insist = 60
            [app c.d]
            busy = maybe
            glare = lesser
            recall = perhaps
            must-report = 1
            dialect = ../twilio
            plain = perhaps
            insist = 0
            """)
        let app = configuration.apps["a.b"]
        #expect(app?.busy == .busy && app?.glare == .lesserID && app?.recall == true && app?.mustReport == .strict)
        #expect(app?.dialect == "twilio" && app?.allowsPlain == false && app?.insistence == .seconds(3600))
        #expect(faults.map(\.line) == [10, 11, 12, 13, 14, 15, 16])
        let usual = Configuration.App()
        #expect(usual.busy == .wait && usual.glare == .wait && !usual.recall && usual.mustReport == .lenient)
        #expect(usual.dialect == nil && usual.allowsPlain)
    }

    @Test func listsAreEdited() throws {
        let text = try Configuration.edit("", set: "screening.block", to: "+49*, x@y").get()
        #expect(text == "[screening]\nblock = +49*, x@y\n")
        #expect(throws: ConfigFault.self) { try Configuration.edit(text, set: "screening.block", to: "a,,b").get() }
    }
}
