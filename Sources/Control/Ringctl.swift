internal import Base

/// The program: words in, exit status out.
package enum Ringctl {
    package static func main(_ arguments: [String]) -> Int32 {
        do {
            switch try Parser.parse(Array(arguments.dropFirst()), verbs: Verbs.all) {
            case .version: Console.write("ringctl 0.1.0\n")
            case .help(let name): return help(name)
            case .run(let invocation):
                let session = Session(isJSON: invocation.isJSON)
                try Verbs.all.first { $0.name == invocation.verb }!.run(invocation, session)
            }
            return 0
        } catch {
            if !error.message.isEmpty { Console.complain("ringctl: \(error.message)") }
            return error.status
        }
    }

    private static func help(_ name: String?) -> Int32 {
        guard let name else {
            Console.write(Help.overview(Verbs.groups))
            return 0
        }
        guard let text = Help.page(named: name, Verbs.all) else {
            Console.complain("ringctl: there is no verb \"\(Text.clean(name, limit: 40))\" (ringctl --help)")
            return 2
        }
        Console.write(text)
        return 0
    }
}
