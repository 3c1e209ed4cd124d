import Base
import Glibc
import Sockets
import Testing

struct RetryTests {
    private let taken = SocketFailure("binding", code: EADDRINUSE)

    @Test func aTakenPortIsTriedLessAndLessAndThenNoMore() throws {
        var retry = Retry()
        let steps = try [1, 2, 5, 10, 30].map { seconds in
            let words = retry.failed(taken, privilege: "", otherwise: "")
            #expect(words.hasSuffix("; tries again in \(seconds) s"))
            let deadline = try #require(retry.deadline)
            // Too early, due, and no more.
            let early = deadline + .nanoseconds(-1)
            let due = [early, deadline, deadline].map { retry.isDue(now: $0) }
            #expect(due == [false, true, false])
            return words
        }
        #expect(steps.first?.hasPrefix("binding: Address already in use; another program has the port") == true)
        retry.begin(afresh: false)
        let last = retry.failed(taken, privilege: "", otherwise: "")
        #expect(last.hasSuffix("; gives up until the configuration is reloaded"))
        #expect(retry.deadline == nil)
        retry.begin(afresh: true)
        let first = retry.failed(taken, privilege: "", otherwise: "")
        #expect(first == steps.first)
        retry.begin(afresh: false)
        #expect(retry.deadline == nil)
    }

    @Test(arguments: [
        (EACCES, "ports below 1024 need a privilege: ask root"), (EADDRNOTAVAIL, "this machine has no such address"),
        (ENOMEM, "look again"),
    ]) func eachFailureHasItsCure(_ code: Int32, _ cure: String) {
        var retry = Retry()
        let words = retry.failed(SocketFailure("binding", code: code), privilege: "ask root", otherwise: "look again")
        #expect(words.contains("; \(cure); tries"))
    }

    @Test func notBeingAbleToAcceptIsNoFailureToListen() throws {
        var retry = Retry()
        let words = retry.couldNotAccept(SocketFailure("accepting a connection", code: EMFILE))
        #expect(words == "accepting a connection: Too many open files; goes on in 1 s")
        let deadline = try #require(retry.deadline)
        let isDue = retry.isDue(now: deadline)
        #expect(isDue)
        let first = retry.failed(taken, privilege: "", otherwise: "")
        #expect(first.hasSuffix("; tries again in 1 s"))
    }
}
