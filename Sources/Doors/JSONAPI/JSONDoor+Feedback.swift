import DoorModel
import LinuxIO
import Logging
import MicroHTTPD

/// How the JSON door sends feedback.
extension JSONDoor {
    /// Answers with the feedback of an app after a cursor.
    ///
    /// - Throws: Why it cannot be read.
    func beginFeedback(_ number: Int, _ app: String, _ call: APICall) async throws {
        _ = try await target(of: call)
        let end = try await tools.reader.begin(number, of: app, after: call.cursor, isOfEvents: call.isOfEvents)
        guard calls[number] != nil else { return await tools.reader.end(number) }
        calls[number]?.isStreaming = true
        calls[number]?.generation = generation
        front.answer(number, HTTPResponse(feedbackUpTo: call.isOfEvents ? nil : end))
    }

    /// How often new feedback is looked for, and how often a quiet stream shows that it lives.
    private static let (eventPause, heartbeat) = (Duration.seconds(1), 15)

    /// Sends what follows.
    func continueFeedback(_ number: Int) async {
        guard let call = calls[number] else { return }
        do {
            for _ in 0..<Self.heartbeat {
                let page = try await tools.reader.next(of: number)
                page.warn(tools.logger)
                // A stream of events is taken up again where it ended; any other has its end.
                let mustEnd = call.isOfEvents && (call.generation != generation || front.isStopping)
                if mustEnd { return front.send([], isLast: true, on: number) }
                if !page.bytes.isEmpty || page.isLast {
                    return front.send(page.bytes, isLast: page.isLast, on: number)
                }
                try await reactor.sleep(for: Self.eventPause)
            }
            front.send(Array(":\n\n".utf8), isLast: false, on: number)
        } catch {
            // Its cursor is beyond what it has got.
            troubles.note(error, about: call.route.app ?? "")
            front.breakOff(number)
        }
    }
}
