import APNSModel
import DoorModel
import LinuxIO
import PushModel
import ServiceProcess

/// How the relay writes the jobs of requests.
extension RelayDoor {
    /// Writes each group when it is due, and answers its requests, until the task is cancelled.
    func runGroups() async {
        await withDiscardingTaskGroup { tasks in
            while !Task.isCancelled {
                let now = Moment.now
                guard let due = unanswered.nextDue, due <= now else {
                    await groupWakeup.wait(until: unanswered.nextDue?.instant)
                    continue
                }
                for group in unanswered.takeDue(at: now) {
                    guard let rest = await write(group) else { continue }
                    tasks.addTask { await self.writeLater(rest) }
                }
            }
        }
    }

    /// Writes a group.
    ///
    /// - Returns: The requests that another door may be writing.
    private func write(_ group: Group) async -> Group? {
        let start = Moment.now
        if waitsForGateway { feedbackWakeup.signal() }
        let result = await writer.drop(DroppedJob(group: group, recordsAll: waitsForGateway))
        if !result.dropped.isEmpty {
            counts.dropTimes.add(nanoseconds: (Moment.now - start).wholeNanoseconds)
            conclude(group.picking(result.dropped), droppedAs: result.job, dropAnswer)
            // The gateway may have answered before the drop has returned.
            await answerHeard()
        }
        if !result.repeated.isEmpty {
            counts.repeatedCount += result.repeated.count
            conclude(group.picking(result.repeated), droppedAs: nil, dropAnswer)
        }
        if !result.failed.isEmpty { fail(group.picking(result.failed)) }
        return result.claimed.isEmpty ? nil : group.picking(result.claimed)
    }

    /// Writes requests that another door may be writing, if it turns out that it has not.
    private func writeLater(_ group: Group) async {
        var rest: Group? = group
        let deadline = Moment.now + Self.claimPatience
        while let group = rest {
            do {
                try await reactor.sleep(for: .milliseconds(Int.random(in: Self.claimPause)))
                guard .now < deadline else { return fail(group) }
            } catch {
                return fail(group)
            }
            rest = await write(group)
        }
    }

    private func fail(_ group: Group) { conclude(group, droppedAs: nil, RelayAnswer(.serviceUnavailable)) }

    /// Answers the requests of a group that do not wait for the gateway.
    private func conclude(_ group: Group, droppedAs job: String?, _ answer: RelayAnswer) {
        let now = WallTime.now
        // What another door has dropped, that door may have to forget again; it is asked each time.
        for key in group.requests.compactMap(\.key) { intake.settle(key, isSpooled: job != nil, at: now) }
        let answered = unanswered.conclude(group, droppedAs: job, at: .now)
        if !answer.isAcceptance {
            for producer in answered.compactMap(\.producer) { rates.settle(0, of: producer, at: .now) }
        }
        send(answer, to: answered)
        if isStopping { idleWakeup.signal() }
    }

    private typealias Group = UnansweredRequests.Group

    /// How long a request may wait for another door that may be writing the same one, and the milliseconds after which it
    /// is asked again. They are random, so that two doors that have seen each other do not meet again.
    private static let (claimPatience, claimPause) = (Duration.seconds(5), 10...100)
}
