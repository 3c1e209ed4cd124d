import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 5.7, N1–N16, as properties of random event sequences. A failing run names its seed and the fewest steps
/// that were found to break something.
struct InvariantTests {
    @Test func randomWalksKeepEveryInvariantAndGetEverywhere() {
        var coverage = Walk.Coverage()
        for seed in UInt64(1)...2000 {
            if let broken = Walk.run(seed: seed, steps: 80, &coverage) {
                Issue.record("\(broken)")
                return
            }
        }
        print(
            coverage.states.sorted(), coverage.transitions.sorted(), coverage.endings.sorted(), coverage.errors,
            CallAction.names.subtracting(coverage.actions), coverage.events, coverage.mostCalls)
    }
}
