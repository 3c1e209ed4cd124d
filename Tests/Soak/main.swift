// Random walks through the core of calls, or how fast that core is: see Scripts/soak and Benchmarks/run calls.

import CallsWalk
import Glibc

let words = Array(CommandLine.arguments.dropFirst())
if words == ["--speed"] {
    print("cycle \(Speed.cycle(count: 50_000))")
    print("walk \(Speed.walk(seeds: 1...200, steps: 500))")
} else if let count = words.first.flatMap(UInt64.init), count > 0, words.count <= 3,
    words.dropFirst().allSatisfy({ UInt64($0) != nil })
{
    let first = words.count > 1 ? UInt64(words[1])! : 1
    let steps = words.count > 2 ? Int(UInt64(words[2])!) : 200
    var coverage = Walk.Coverage()
    for (done, seed) in (first..<first + count).enumerated() {
        if let broken = Walk.run(seed: seed, steps: steps, &coverage) {
            print(broken)
            print("A property does not hold: repeat with Scripts/soak 1 \(seed)")
            exit(1)
        }
        guard done % 10_000 == 9_999 else { continue }
        print("\(done + 1) walks, \(coverage.events) events")
        // All files: a pipe would see nothing of it before the end.
        fflush(nil)
    }
    print(
        "\(count) walks from seed \(first), \(coverage.events) events: every property held; at most",
        "\(coverage.mostCalls) calls at once, \(coverage.transitions.count) transitions")
} else {
    print("Usage: ringd-soak WALKS [SEED [STEPS]] | --speed")
}
