import AppEngine
import JournalModel
import LinuxIO
import TestSupport
import Testing

#if FAILPOINTS
    /// What the next start made of a job after a crash, with a gateway that accepts everything.
    struct ObservedRecovery {
        let before: DiskState
        private(set) var after: DiskState
        /// The notifications that were not sent, as far as the journal knew the job.
        private let unsent: Set<Int>?
        /// The notifications that it handed to the gateway.
        private let handed: Set<Int>
        /// The lines that it published.
        private let lines: ArraySlice<Substring>
        private let log: [String]

        /// Runs the app on a tree that a crash has left.
        ///
        /// - Parameters:
        ///   - tree: the spool.
        ///   - before: the job's state in it.
        ///   - trace: what the crashed run did.
        /// - Throws: `NotInTime`: it does not come to an end; whatever keeps the app from running.
        init(of tree: CrashState, _ before: DiskState, _ trace: Scenario.Trace) async throws {
            self.before = before
            let home = try Engine.Home(after: tree, keeping: trace.file)
            let lineCount = try home.feedback().count
            let log = RecordedLog()
            var gateway: GatewayDouble?
            try await Engine.running(in: home, acceptsAll: true, logger: log.logger) { engine in
                gateway = engine.gateway
                _ = await engine.runner.resume()
                try await eventually("nothing is left to do after \(before.cells)", within: .seconds(60)) {
                    home.files("new").isEmpty ? await engine.runner.isThrough : false
                }
            }
            handed = Set(await gateway?.handed ?? [])
            lines = try home.feedback().dropFirst(lineCount)
            self.log = log.lines
            let left = try MemoryVolume(copying: Directory.open(path: home.spool), order: .ordered).seen
            var journals = JournalMemo()
            unsent = journals.job(in: tree).map { job in
                Set(job.remaining.runs.joined()).subtracting(job.intents.runs.joined())
            }
            after = DiskState(of: left, journals.job(in: left), bytes: trace.bytes)
        }

        /// Whether the job is held or has ended, unless nothing was left of it, and the journal has forgotten it.
        var isComplete: Bool {
            let wasNever = before.placeCount == 0 && (before.record == .none || before.record == .announced)
            return after.record == .none && after.new == .absent && after.work == .absent
                && (after.placeCount > 0 || wasNever) && (after.hold != .torn || before.record == .none)
        }

        /// Whether it sent everything that was not sent, or nothing, and no notification that had an outcome.
        var isExact: Bool { handed.isEmpty || unsent.map { $0 == handed } ?? true }

        /// What it did, in words.
        var meaning: String {
            let isUnsent = before.record == .announced || before.record == .claimed
            let isSent = !handed.isEmpty || isUnsent && after.archived != .absent
            let clauses = takeover + doubt + (isIntake ? [] : isSent ? sending : ending) + leftovers
            guard clauses.isEmpty else { return clauses.joined(separator: ", ") }
            if before.record != .none { return "forgets it" }
            return before.hasRemainder && !after.hasRemainder ? "removes the remainder" : "–"
        }

        /// Whether the job is read as one that was dropped: what becomes of it depends on what is in the file.
        private var isIntake: Bool { before.new != .absent && before.record == .none && before.work == .absent }

        /// What it did not clean up.
        private var leftovers: [String] {
            (after.placeCount > 1 ? ["leaves it in \(after.hold == .absent ? "the archive" : "`hold/`") too"] : [])
                + (after.hasTorn && before.record != .none ? ["leaves it without its bytes"] : [])
                + (after.hasRemainder && after.hold == .absent ? ["leaves the remainder to the next start"] : [])
        }

        private func says(_ message: String) -> Bool { log.contains { $0.contains(" \(message) ") } }

        /// What it did with the job's file.
        private var takeover: [String] {
            var clauses: [String] = []
            if says("job restored from the journal") { clauses.append("restores it from the journal") }
            if before.hold != .absent, after.hold == .absent { clauses.append("removes it from `hold/`") }
            guard before.new != .absent else { return clauses }
            if isIntake {
                clauses.append(before.hasRemainder ? "reads it, with its remainder" : "reads it")
            } else if before.placeCount > 1 {
                clauses.append("removes it from `new/`")
            } else if clauses.isEmpty {
                clauses.append("claims it again")
            }
            return clauses
        }

        /// What it sent, if the job can be sent at all. The job ends then as any other.
        private var sending: [String] {
            let isAll = handed.isEmpty || handed.count == Scenario.count
            return [isAll ? "sends all" : "sends the rest"]
        }

        /// Whether it reported notifications that may have been sent, and that must not be sent twice.
        private var doubt: [String] {
            let isDoubtful = lines.contains { $0.contains("\"outcome\":\"unknown\"") }
            return isDoubtful ? ["reports those in doubt as `unknown`"] : []
        }

        /// How it ended a job of which nothing is left to send.
        private var ending: [String] {
            var clauses: [String] = []
            if lines.contains(where: { $0.contains("\"kind\":\"job\"") }) { clauses.append("publishes its `job` line") }
            if before.archived == .absent, after.archived != .absent { clauses.append("archives it") }
            if before.hold == .absent, after.hold != .absent { clauses.append("holds it") }
            return clauses
        }
    }
#endif
