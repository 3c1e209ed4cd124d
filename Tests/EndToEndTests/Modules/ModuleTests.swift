import AVFoundation
import CallKit
import Foundation
import Glibc
import JSON
import PushKit
import TestSupport
import Testing
import UserNotifications

extension EndToEnd {
    /// What CallKit's and PushKit's users write, and what their bug reports say (callkit.md 4), through the modules
    /// against a real ringd.
    @Suite(.serialized) final class Modules {
        let rig: Rig
        let app = ModuleApp()
        let provider: CXProvider
        let controller: CXCallController

        init() throws {
            let rig = try ModuleDesk.rig.get()
            self.rig = rig
            for call in try rig.ask("calls").items { _ = try rig.ringctl("hangup", call["UUID"]?.string ?? "") }
            try until("no calls") { try rig.ask("calls").items.isEmpty }
            controller = CXCallController(queue: DispatchQueue(label: "completions"))
            let configuration = CXProviderConfiguration()
            configuration.supportsVideo = true
            configuration.supportedHandleTypes = [.generic, .phoneNumber]
            provider = CXProvider(configuration: configuration)
            provider.setDelegate(app, queue: nil)
        }

        /// What a test has left ends here: its delegate is still there to be told.
        deinit {
            for call in (try? rig.ask("calls").items) ?? [] {
                guard let call = UUID(uuidString: call["UUID"]?.string ?? "") else { continue }
                provider.reportCall(with: call, endedAt: nil, reason: .failed)
            }
            _ = try? rig.ringctl("decline")
        }

        // MARK: Helpers

        private func update(_ name: String, _ number: String = "+4930123") -> CXCallUpdate {
            let update = CXCallUpdate()
            update.localizedCallerName = name
            update.remoteHandle = CXHandle(type: .phoneNumber, value: number)
            return update
        }

        private func incoming(_ name: String = "Alice", by provider: CXProvider? = nil) async throws -> UUID {
            let call = UUID()
            try await (provider ?? self.provider).reportNewIncomingCall(with: call, update: update(name))
            return call
        }

        private func state(_ call: UUID) throws -> JSONValue? {
            try rig.ask("calls").items.first { $0["UUID"]?.string == call.uuidString.lowercased() }
        }

        private func waits(for state: String, _ call: UUID) throws {
            try until("\(state), not \(String(describing: try self.state(call)))") {
                try self.state(call)?["State"]?.string == state
            }
        }

        private func isOver(_ call: UUID) throws { try until("the end of \(call)") { try state(call) == nil } }

        // MARK: One call

        @Test func aCallRingsIsAnsweredAndEnds() async throws {
            let call = try await incoming("Zoë")
            #expect(try state(call)?["Caller"]?.string == "Zoë")
            try rig.ask("answer")
            try app.await("answer \(call.uuidString)")
            try app.await("audio on")
            #expect(AVAudioSession.sharedInstance().category == .soloAmbient)
            try waits(for: "active", call)
            try rig.ask("hangup")
            try app.await("end \(call.uuidString)")
            try isOver(call)
            try app.await("audio off")
            #expect(app.story(of: call) == ["answer", "end"])
            let row = try rig.lastCall()
            #expect(row["category"]?.string == "completed" && row["handle"]?.string == "+4930123")
        }

        @Test func errorsAreApplesOwn() async throws {
            let call = try await incoming()
            let again = await #expect(throws: CXErrorCodeIncomingCallError.self) {
                try await provider.reportNewIncomingCall(with: call, update: update("Alice"))
            }
            #expect(again?.code == .callUUIDAlreadyExists)
            #expect((again as (any Error)?).map { ($0 as NSError).domain } == CXErrorDomainIncomingCall)
            #expect((again as (any Error)?).map { ($0 as NSError).code } == 2)
            #expect(again?.errorDescription?.contains("harmless") == true)
            // Acting on what is over: by far the most reported error (I-20, I-29).
            do {
                try await controller.request(CXTransaction(action: CXEndCallAction(call: UUID())))
                Issue.record("nothing to end, and yet it was accepted")
            } catch CXErrorCodeRequestTransactionError.unknownCallUUID {
                // As it is to be.
            }
            let empty = await #expect(throws: CXErrorCodeRequestTransactionError.self) {
                try await controller.request(CXTransaction())
            }
            #expect(empty?.code == .emptyTransaction)
            // I-19: an incoming call that is started.
            let start = CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "alice"))
            let exists = await #expect(throws: CXErrorCodeRequestTransactionError.self) {
                try await controller.request(CXTransaction(action: start))
            }
            #expect(exists?.code == .callUUIDAlreadyExists)
            provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
            try isOver(call)
            #expect(try rig.lastCall()["category"]?.string == "missed")
        }

        @Test func screenedCallsAreRefusedWithApplesCodes() async throws {
            defer {
                _ = try? rig.ringctl("unblock", "+666*")
                _ = try? rig.ringctl("dnd", "auto")
                _ = try? rig.ringctl("config", "unset", "screening.do-not-disturb")
            }
            try rig.ask("block", "+666*")
            let blocked = await #expect(throws: CXErrorCodeIncomingCallError.self) {
                try await provider.reportNewIncomingCall(with: UUID(), update: update("Mallory", "+66612"))
            }
            #expect(blocked?.code == .filteredByBlockList)
            try rig.ask("config", "set", "screening.do-not-disturb", "refuse")
            try rig.ask("dnd", "on")
            let quiet = await #expect(throws: CXErrorCodeIncomingCallError.self) {
                try await provider.reportNewIncomingCall(with: UUID(), update: update("Alice", "+1555"))
            }
            #expect(quiet?.code == .filteredByDoNotDisturb)
        }

        /// I-30, I-33: answered before the session is ready, fulfilled from another queue when it is.
        @Test func anAnswerMayTakeItsTime() async throws {
            app.onAction = { _ in }
            let call = try await incoming()
            try rig.ask("answer")
            try app.await("answer \(call.uuidString)")
            let action = try #require(app.actions.first as? CXAnswerCallAction)
            #expect(try state(call)?["State"]?.string == "answering")
            #expect(!action.isComplete && action.timeoutDate > Date() && action.uuid != call)
            #expect(provider.pendingCallActions(of: CXAnswerCallAction.self, withCall: call) == [action])
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { action.fulfill(withDateConnected: Date()) }
            try waits(for: "active", call)
            #expect(action.isComplete && provider.pendingTransactions.isEmpty)
            app.onAction = nil
            try rig.ask("hangup")
            try isOver(call)
        }

        /// An action counts once, from whatever queue, however often.
        @Test func anActionCompletedManyTimesCountsOnce() async throws {
            app.onAction = { action in
                DispatchQueue.concurrentPerform(iterations: 16) { index in
                    if index.isMultiple(of: 2) { action.fulfill() } else { action.fail() }
                }
            }
            let call = try await incoming()
            try rig.ask("answer")
            try until("one outcome") { try state(call)?["State"]?.string != "answering" }
            app.onAction = nil
            _ = try rig.ringctl("hangup")
            try isOver(call)
            #expect(app.story(of: call).filter { $0 == "answer" }.count == 1)
        }

        @Test func anActionThatFailsEndsItsCall() async throws {
            app.onAction = { $0.fail() }
            let call = try await incoming()
            try rig.ask("answer")
            try isOver(call)
            #expect(try rig.lastCall()["reason"]?.string == "failed-answer")
        }

        /// An action that is never completed: 10 seconds later it is timed out, and completing it is nothing.
        @Test func anActionThatIsForgottenTimesOut() async throws {
            app.onAction = { _ in }
            let call = try await incoming()
            try rig.ask("answer")
            try app.await("timed out \(call.uuidString)")
            let action = try #require(app.actions.first)
            #expect(action.isComplete)
            action.fulfill()
            try isOver(call)
            #expect(try rig.lastCall()["reason"]?.string == "failed-timeout")
        }

        // MARK: Ending

        /// V54: the end that is requested from inside its own end action.
        @Test func anEndRequestedInsideItsEndDoesNotLoop() async throws {
            let controller = controller
            app.onAction = { action in
                guard let end = action as? CXEndCallAction else { return action.fulfill() }
                controller.request(CXTransaction(action: end)) { _ in end.fulfill() }
            }
            let call = try await incoming()
            try rig.ask("answer")
            try waits(for: "active", call)
            try rig.ask("hangup")
            try isOver(call)
            pause(0.3)
            #expect(app.story(of: call).filter { $0 == "end" }.count == 1)
        }

        /// I-20: ended by both sides.
        @Test func anEndAfterTheEndIsAnError() async throws {
            let call = try await incoming()
            try await controller.request(CXTransaction(action: CXEndCallAction(call: call)))
            try isOver(call)
            let error = await #expect(throws: CXErrorCodeRequestTransactionError.self) {
                try await controller.request(CXTransaction(action: CXEndCallAction(call: call)))
            }
            #expect(error?.code == .unknownCallUUID)
            provider.reportCall(with: call, endedAt: Date(), reason: .remoteEnded)
            #expect(try rig.lastCall()["category"]?.string == "declined")
        }

        /// The app's own action comes back to it under its own UUID.
        @Test func aRequestedActionKeepsItsUUID() async throws {
            let call = UUID()
            let start = CXStartCallAction(call: call, handle: CXHandle(type: .phoneNumber, value: "+4930999"))
            start.contactIdentifier = "contact-7"
            start.isVideo = true
            try await controller.request(CXTransaction(action: start))
            try app.await("start \(call.uuidString)")
            let performed = try #require(app.actions.first as? CXStartCallAction)
            #expect(performed.uuid == start.uuid && performed.contactIdentifier == "contact-7" && performed.isVideo)
            #expect(performed.handle == start.handle)
            provider.reportOutgoingCall(with: call, startedConnectingAt: nil)
            try waits(for: "dialing", call)
            provider.reportOutgoingCall(with: call, connectedAt: Date(timeIntervalSinceNow: -0.05))
            try waits(for: "active", call)
            try app.await("audio on")
            try await controller.request(CXTransaction(action: CXEndCallAction(call: call)))
            try isOver(call)
            #expect(app.story(of: call) == ["start", "end"])
            let row = try rig.lastCall()
            #expect(row["direction"]?.string == "outgoing" && row["duration_ms"] != nil)
        }

        // MARK: Several calls

        @Test func holdAndSwap() async throws {
            let first = try await incoming("Alice")
            try rig.ask("answer")
            try waits(for: "active", first)
            let second = try await incoming("Bob")
            try waits(for: "waiting", second)
            // End & Accept, Hold & Accept: here as an app requests it.
            try await controller.requestTransaction(with: [
                CXSetHeldCallAction(call: first, onHold: true), CXAnswerCallAction(call: second),
            ])
            try waits(for: "active", second)
            #expect(try state(first)?["IsOnHold"]?.flag == true)
            try await controller.requestTransaction(with: CXSetHeldCallAction(call: first, onHold: false))
            try waits(for: "active", first)
            try waits(for: "held", second)
            #expect(app.story(of: first) == ["answer", "hold", "unhold"])
            #expect(app.story(of: second) == ["answer", "hold"])
            let audio = app.story.filter { $0.hasPrefix("audio") }
            #expect(audio == ["audio on", "audio off", "audio on", "audio off", "audio on"])
            // I-54: mute is of its own call.
            try await controller.requestTransaction(with: CXSetMutedCallAction(call: first, muted: true))
            try until("muted") { try state(first)?["IsMuted"]?.flag == true }
            #expect(try state(second)?["IsMuted"]?.flag == false)
            try await controller.requestTransaction(
                with: CXPlayDTMFCallAction(call: first, digits: "12#", type: .singleTone))
            try app.await("dtmf 12# \(first.uuidString)")
        }

        /// I-52: the end names the call that was declined.
        @Test func decliningTheSecondTouchesTheFirstInNothing() async throws {
            let first = try await incoming("Alice")
            try rig.ask("answer")
            try waits(for: "active", first)
            let second = try await incoming("Bob")
            try rig.ask("decline", String(second.uuidString.lowercased()))
            try app.await("end \(second.uuidString)")
            #expect(try state(first)?["State"]?.string == "active")
            #expect(app.story(of: first) == ["answer"])
        }

        // MARK: Objects and queues

        /// A provider made again for each push loses no call (I-20).
        @Test func aProviderMadeAgainLosesNoCall() async throws {
            let call = try await incoming()
            let other = ModuleApp()
            let second = CXProvider(configuration: CXProviderConfiguration(localizedName: "Second"))
            second.setDelegate(other, queue: nil)
            try rig.ask("answer")
            try app.await("answer \(call.uuidString)")
            try waits(for: "active", call)
            let next = try await incoming("Bob", by: second)
            try rig.ask("answer")
            try other.await("answer \(next.uuidString)")
            #expect(!app.story.contains("answer \(next.uuidString)"))
            try isOver(call)
            try rig.ask("hangup")
            try isOver(next)
            second.invalidate()
        }

        @Test func aDelegateOnABackgroundQueueIsAskedThereInOrder() async throws {
            let queue = DispatchQueue(label: "calls")
            let key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            provider.setDelegate(app, queue: queue)
            app.onAction = { [app] action in
                app.note("on queue \(DispatchQueue.getSpecific(key: key) ?? false)")
                action.fulfill()
            }
            let call = try await incoming()
            try rig.ask("answer")
            try waits(for: "active", call)
            try rig.ask("hold")
            try rig.event("call.held") { $0["call"]?.string == call.uuidString.lowercased() }
            try rig.ask("unhold")
            try waits(for: "active", call)
            #expect(app.story(of: call) == ["answer", "hold", "unhold"])
            #expect(
                app.story.filter { $0.hasPrefix("on queue") } == ["on queue true", "on queue true", "on queue true"])
        }

        @Test func anObserverSeesEveryonesCalls() async throws {
            let observer = CXCallObserver()
            observer.setDelegate(app, queue: nil)
            let mine = try await incoming()
            try app.await("changed \(mine.uuidString) there")
            #expect(observer.calls.contains { $0.uuid == mine && !$0.isOutgoing && !$0.hasConnected })
            let foreign = try #require(UUID(uuidString: try rig.ring("Bob")))
            try app.await("changed \(foreign.uuidString) there")
            try rig.ask("answer", mine.uuidString.lowercased())
            try app.await("changed \(mine.uuidString) connected")
            try rig.ask("hold")
            try app.await("changed \(mine.uuidString) held")
            _ = try rig.ringctl("decline", foreign.uuidString.lowercased())
            try app.await("changed \(foreign.uuidString) ended")
            provider.reportCall(with: mine, endedAt: nil, reason: .failed)
            try app.await("changed \(mine.uuidString) ended")
            #expect(!observer.calls.contains { $0.uuid == mine })
        }

        // MARK: Pushes

        @Test func aRegistryMadeInALocalVariableGoesOnWorking() async throws {
            func register() {
                let registry = PKPushRegistry(queue: nil)
                registry.desiredPushTypes = [.voIP]
                // The delegate comes after the fact, and still gets what waited.
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { [app] in registry.delegate = app }
            }
            register()
            try app.await("token")
            let token = try #require(app.pushToken)
            #expect(token.count == 32)
            let hex = token.map { String(format: "%02x", $0) }.joined()
            let provider = provider
            let update = update("Dora")
            app.onPush = { [app] payload, completion in
                let call = UUID(uuidString: payload.dictionaryPayload["callId"] as? String ?? "") ?? UUID()
                // Ringing already, by ringd: for the app it is new.
                provider.reportNewIncomingCall(with: call, update: update) { error in
                    app.note("reported \(error.map { "\($0)" } ?? "well")")
                    completion()
                }
            }
            let call = UUID()
            try rig.ask("push", "--token", hex, "--caller", "Dora", "--id", call.uuidString)
            try app.await("push \(call.uuidString)")
            try app.await("reported well")
            try rig.ask("answer")
            try waits(for: "active", call)
            // Answered elsewhere: an echo of our own answer. A cancel ends it, and the app is asked to end.
            try rig.ask("push", "--token", hex, "--cancel", "--id", call.uuidString)
            try app.await("end \(call.uuidString)")
            try isOver(call)
            // Renewed: the old token is invalid, a new one comes.
            let start = app.story.count
            try rig.ask("apps", "renew", ModuleApp.id)
            try app.await("invalid", from: start)
            try app.await("token", from: start)
            #expect(app.pushToken != token)
        }

        @Test func aCallTakenOnAnotherDeviceIsNotEndedHere() async throws {
            let observer = CXCallObserver()
            observer.setDelegate(app, queue: nil)
            let call = UUID()
            try rig.ask("push", "--app", ModuleApp.id, "--caller", "Emil", "--id", call.uuidString)
            try app.await("changed \(call.uuidString) there")
            try rig.ask(
                "push", "--app", ModuleApp.id, "--payload", "-",
                input: Data(#"{"callId":"\#(call.uuidString)","kind":"answered-elsewhere"}"#.utf8))
            try app.await("changed \(call.uuidString) ended")
            pause(0.2)
            #expect(!app.story.contains("end \(call.uuidString)"))
        }

        // MARK: Restarts

        @Test func aRestartedDaemonResetsProvidersAndNothingIsDoubled() async throws {
            let call = try await incoming()
            try rig.ask("answer")
            try waits(for: "active", call)
            let start = app.story.count
            rig.daemon.kill()
            try rig.start()
            try app.await("reset", from: start)
            try app.await("begin", from: start)
            let next = try await incoming("Bob")
            try rig.ask("answer")
            try app.await("answer \(next.uuidString)", from: start)
            try waits(for: "active", next)
            #expect(app.story.dropFirst(start).filter { $0 == "reset" }.count == 1)
            #expect(app.story(of: next) == ["answer"])
            try rig.watch()
        }

        @Test func anAppOfAnotherVersionIsTold() throws {
            let talk = try Program(
                Tree.program("ringd-test-app"), [Rig.app, "answer", "version=9.9"], environment: rig.environment,
                output: rig.scratch.at("version.log"))
            try until("a refusal: \(talk.said)") { talk.said.contains("VersionMismatch") }
            #expect(talk.said.contains("build it with the modules of this version"))
        }

        // MARK: Notifications

        @Test func notificationsAreShownAndAnswered() async throws {
            final class Responder: NSObject, UNUserNotificationCenterDelegate, @unchecked Sendable {
                let app = ModuleApp()
                func userNotificationCenter(
                    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
                    withCompletionHandler completionHandler: @escaping @Sendable () -> Void
                ) {
                    let info = response.notification.request.content.userInfo["id"] as? String ?? ""
                    app.note("\(response.actionIdentifier) \(info)")
                    completionHandler()
                }
            }
            let center = UNUserNotificationCenter.current()
            let responder = Responder()
            center.delegate = responder
            defer { center.delegate = nil }
            #expect(try await center.requestAuthorization(options: [.alert, .sound, .badge]))
            #expect(await center.notificationSettings().authorizationStatus == .authorized)
            center.setNotificationCategories([
                UNNotificationCategory(
                    identifier: "CALL",
                    actions: [
                        UNNotificationAction(identifier: "ANSWER", title: "Answer", options: .foreground),
                        UNNotificationAction(identifier: "DECLINE", title: "Decline"),
                    ], intentIdentifiers: [])
            ])
            let content = UNMutableNotificationContent()
            content.title = "Alice"
            content.body = "invites you to a call <b>now</b>"
            content.categoryIdentifier = "CALL"
            content.userInfo = ["id": "7"]
            try rig.listen()
            try await center.add(
                UNNotificationRequest(
                    identifier: "Voip_Push", content: content,
                    trigger: UNTimeIntervalNotificationTrigger(timeInterval: 0.2, repeats: false)))
            #expect(await center.pendingNotificationRequests().map(\.identifier) == ["Voip_Push"])
            let notify = try rig.message("Notify") { $0[3].string == "Alice" }
            #expect(notify[4].string == "invites you to a call &lt;b&gt;now&lt;/b&gt;")
            #expect(notify[5].items.map(\.string) == ["default", "Open", "ANSWER", "Answer", "DECLINE", "Decline"])
            try until("one delivered") {
                try rig.choose("Decline"); return responder.app.story.contains("DECLINE 7")
            }
            #expect(await center.deliveredNotifications().isEmpty)
            // Taken back before it was due: never shown (W17).
            content.title = "Bob"
            let later = UNTimeIntervalNotificationTrigger(timeInterval: 0.3, repeats: false)
            try await center.add(UNNotificationRequest(identifier: "Voip_Push", content: content, trigger: later))
            center.removePendingNotificationRequests(withIdentifiers: ["Voip_Push"])
            pause(0.6)
            #expect(!rig.messages("Notify").contains { $0[3].string == "Bob" })
        }

        /// As it is written since Swift 5.5, on the main actor.
        @Test func aNotificationDelegateMayBeAsync() async throws {
            @MainActor final class Responder: NSObject, UNUserNotificationCenterDelegate {
                nonisolated let app: ModuleApp
                init(_ app: ModuleApp) { self.app = app }
                func userNotificationCenter(
                    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
                ) async -> UNNotificationPresentationOptions {
                    app.note("due \(notification.request.identifier)")
                    return [.banner]
                }
                func userNotificationCenter(
                    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
                ) async { app.note("chosen \(response.actionIdentifier)") }
            }
            let center = UNUserNotificationCenter.current()
            let responder = await Responder(app)
            center.delegate = responder
            defer { center.delegate = nil }
            center.setNotificationCategories([
                UNNotificationCategory(
                    identifier: "ASYNC", actions: [UNNotificationAction(identifier: "LATER", title: "Later")],
                    intentIdentifiers: [])
            ])
            let content = UNMutableNotificationContent()
            content.title = "Frieda"
            content.categoryIdentifier = "ASYNC"
            try await center.add(UNNotificationRequest(identifier: "async", content: content, trigger: nil))
            try app.await("due async")
            try until("the choice") {
                try rig.choose("Later"); return app.story.contains("chosen LATER")
            }
        }
    }
}
