import AppEngine
import Foundation
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

#if FAILPOINTS
    /// One way of a job from its drop to its end.
    enum Scenario: String, CaseIterable {
        case accepted, mixed, rejected, faulty, refused, doubtful
        case heldWaiting, heldUnderWay, heldAndCancelled, cancelledAndRetried

        /// The job's file.
        var text: String {
            switch self {
            case .accepted, .rejected, .heldWaiting, .cancelledAndRetried: Engine.Home.job(Self.count)
            case .mixed, .heldUnderWay, .heldAndCancelled: Engine.Home.job(Self.count, #","record":"all""#)
            case .doubtful: Engine.Home.job(Self.count, #","on_doubt":"report""#)
            case .faulty: "{]"
            case .refused: ""
            }
        }

        /// The number of the job's recipients.
        static let count = 4

        /// Brings the job from `new/` to its end. Waits for each step, so that every run makes the same changes.
        private func play(_ engine: Engine, in home: Engine.Home, _ plan: FailPlan) async throws {
            switch self {
            case .faulty, .refused: break
            case .accepted:
                try await engine.settle(2, of: 4)
                try await engine.settle(2, of: 2)
            case .mixed:
                try await engine.settle(2, of: 4)
                try await published(1 + 2, in: home)
                try await engine.settle(1, of: 2, Engine.gone)
                try await published(1 + 3, in: home)
                try await engine.settle(1, of: 1)
            case .rejected: try await engine.settle(4, of: 4, Engine.gone)
            case .doubtful:
                for count in [4, 2] {
                    try await engine.handed(count)
                    await engine.gateway.announce(2)
                    try await eventually("announced") { await engine.gateway.announcedCount == 6 - count }
                    try await engine.settle(2, of: count)
                }
            case .heldWaiting, .heldUnderWay, .heldAndCancelled: try await playHeld(engine, in: home)
            case .cancelledAndRetried:
                try await engine.settle(1, of: 4)
                try await engine.command(.cancel)
                try await failed("a.json", plan)
                try await engine.command(.retry)
                try await engine.settle(3, of: 3)
            }
            try await eventually("the end of \(self)") {
                (home.files("done") + home.files("failed")).contains("a.json") ? await engine.runner.isThrough : false
            }
        }

        private func playHeld(_ engine: Engine, in home: Engine.Home) async throws {
            if self != .heldWaiting {
                try await engine.settle(1, of: 4)
                try await published(1 + 1, in: home)
            }
            try await engine.command(.hold)
            guard self != .heldAndCancelled else { return try await engine.command(.cancel) }
            try await engine.command(.release)
            if self == .heldWaiting { _ = await engine.runner.resume() }
            let count = self == .heldWaiting ? 4 : 3
            try await engine.settle(count, of: count)
        }

        /// Waits until the app has moved a file to `failed/`, and has synced the filesystem after that.
        private func failed(_ name: String, _ plan: FailPlan) async throws {
            try await eventually("\(name) is safe in failed/") {
                let changes = plan.changes
                let move = changes.lastIndex { change in
                    guard case .renamed(_, _, let folder, Array(name.utf8)) = change else { return false }
                    return folder.contains("/failed/")
                }
                return move.map { changes[$0...].contains(.syncedAll) } ?? false
            }
        }

        /// Waits for so many lines, of which one is that of the folder before the job.
        private func published(_ count: Int, in home: Engine.Home) async throws {
            try await eventually("\(count) lines") { try home.feedback().count == count }
        }
    }

    extension Engine {
        /// Gives some of the notifications that wait this outcome, and waits until it is in the journal.
        fileprivate func settle(_ count: Int, of waitingCount: Int, _ outcome: Outcome = .accepted) async throws {
            try await handed(waitingCount)
            let due = await gateway.recordedCount + count
            await settle(count, outcome)
            try await eventually("recorded") { await gateway.recordedCount == due }
        }

        fileprivate func command(_ command: ControlRequest.Command) async throws {
            let answer = try await carryOut(command)
            #expect(answer.isGood, "\(answer)")
        }
    }

    extension Scenario {
        /// What a run of it did on disk.
        struct Trace {
            /// The job's file, as it was dropped.
            let file: KeptFile
            let bytes: [UInt8]
            /// The spool before the drop, all of it synced.
            let before: [MemoryVolume]
            /// The changes of the drop, of which nothing is synced, and of the app.
            let changes: ArraySlice<FileChange>
            /// The home in which it ran.
            fileprivate let home: Engine.Home
        }

        /// Runs it, and records what it does.
        func trace() async throws -> Trace {
            let home = try Engine.Home()
            let spool = try Directory.open(path: home.spool)
            let folder = try spool.makeChild(Array(".pushspool".utf8), mode: 0o755)
                .makeChild(Array("node-a".utf8), mode: 0o700)
            _ = try JournalLock.openJournal(of: "node-a", in: folder, layout: JournalMemo.layout)
            // The app syncs the filesystem when it has its first work: here a folder, which it refuses.
            _ = try Directory.open(path: home.spool + "/weather/new").makeChild(Array("first.json".utf8), mode: 0o755)
            var volumes = try MemoryVolume.Order.allCases.map { try MemoryVolume(copying: spool, order: $0) }
            let plan = FailPlan(under: home.spool, isRecording: true)
            plan.install()
            defer { plan.remove() }
            var (file, startCount) = (KeptFile?.none, 0)
            try await Engine.running(in: home) { engine in
                try await failed("first.json", plan)
                if self == .heldWaiting { _ = await engine.runner.beginPause() }
                startCount = plan.changes.count
                file = try drop(in: home)
                try await play(engine, in: home, plan)
            }
            let changes = plan.changes
            for index in volumes.indices { try volumes[index].apply(changes.prefix(startCount)) }
            return Trace(
                file: try #require(file), bytes: Array(text.utf8), before: volumes,
                changes: changes.dropFirst(startCount), home: home)
        }

        /// Drops the job as a producer does that syncs nothing. The file to be refused is empty and never renamed: others
        /// are claimed before they fail.
        private func drop(in home: Engine.Home) throws -> KeptFile {
            let app = home.spool + "/weather"
            let path = self == .refused ? app + "/new" : app
            let (folder, name) = (try Directory.open(path: path), Array("a.json".utf8))
            try folder.put(name, Array(text.utf8))
            let time = Date(timeIntervalSince1970: 1_700_000_000)
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path + "/a.json")
            let file = try KeptFile(path + "/a.json", in: Directory.open(path: home.path))
            if self != .refused { try folder.rename(name, to: folder.openChild(Array("new".utf8)), as: name) }
            return file
        }
    }
#endif
