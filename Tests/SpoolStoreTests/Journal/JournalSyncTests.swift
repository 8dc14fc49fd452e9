import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct JournalSyncTests {
    let test: TestJournal

    init() throws {
        test = try TestJournal()
    }

    /// Does something while the journal is synced by its own task.
    private func whileRunning(
        _ journal: Journal, every interval: Duration = .seconds(3600), results: Int = .max,
        _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await journal.run(every: interval, results: results) }
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `a sync waits for what was appended, with or without the task that syncs`() async throws {
        let (journal, _) = try test.open()
        try journal.append(.header(header(job(1))))
        try await journal.sync()
        try await whileRunning(journal) {
            for index in 0..<50 {
                try journal.append(accepted(job(1), index..<(index + 1)))
                try await journal.sync()
            }
        }
        try journal.append(accepted(job(1), 50..<51))
        try await journal.sync()
        try await journal.sync()
        #expect(journal.job(job(1))?.remaining.count == 49)
    }

    @Test func `what nobody waits for is written when the syncing ends`() async throws {
        do {
            let (journal, _) = try test.open()
            try await whileRunning(journal) { try journal.append(.header(header(job(1)))) }
        }
        #expect(try test.open().replay.jobs.count == 1)
    }

    @Test func `patience ends when the task is cancelled`() async throws {
        let (journal, _) = try test.open()
        try await whileRunning(journal) {
            try await withThrowingTaskGroup { group in
                try journal.append(.header(header(job(1))))
                group.addTask { try await journal.sync(isPatient: true) }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        #expect(journal.fault == nil)
    }

    #if FAILPOINTS
        private func plan(_ points: String = "") -> FailPlan {
            FailPlan(under: test.place.path, points: FailPoint.list(points) ?? [], isRecording: true)
        }

        private func syncCount(_ plan: FailPlan) -> Int {
            plan.changes.count { if case .syncedFile = $0 { true } else { false } }
        }

        @Test func `those who wait at the same time share a sync`() async throws {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1), recipients: 2000)))
            let plan = plan()
            plan.install()
            defer { plan.remove() }
            try await whileRunning(journal) {
                try await withThrowingTaskGroup { group in
                    for index in 0..<1000 {
                        group.addTask {
                            try journal.append(accepted(job(1), index..<(index + 1)))
                            try await journal.sync()
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect((1...500).contains(syncCount(plan)))
            #expect(journal.job(job(1))?.remaining.count == 1000)
        }

        @Test func `records that nobody waits for are synced after a time`() async throws {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1))))
            try journal.flush()
            let plan = plan()
            plan.install()
            defer { plan.remove() }
            try await whileRunning(journal, every: .milliseconds(1)) {
                try journal.append(accepted(job(1), 0..<1))
                while syncCount(plan) == 0 { await Task.yield() }
            }
            #expect(syncCount(plan) == 1)
        }

        @Test func `so many records that nobody waits for are synced at once`() async throws {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1))))
            try journal.flush()
            let plan = plan()
            plan.install()
            defer { plan.remove() }
            try await whileRunning(journal, results: 10) {
                for index in 0..<10 { try journal.append(accepted(job(1), index..<(index + 1))) }
                while syncCount(plan) == 0 { await Task.yield() }
            }
            #expect(syncCount(plan) == 1)
        }

        @Test(arguments: ["1:eio", "2:eio", "1:enospc"])
        func `the first failure is the last`(point: String) throws {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1))))
            let plan = plan(point)
            plan.install()
            #expect(throws: JournalFault.self) { try journal.flush() }
            plan.remove()
            #expect(journal.fault != nil)
            #expect(throws: JournalFault.self) { try journal.append(.claimed(job(1))) }
            #expect(throws: JournalFault.self) { try journal.write() }
            #expect(throws: JournalFault.self) { try journal.flush() }
        }

        @Test func `a failed sync is told to all who wait, and ends the syncing`() async throws {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1))))
            try journal.flush()
            let plan = plan("2:eio")
            plan.install()
            defer { plan.remove() }
            let faults = await withTaskGroup { group in
                group.addTask {
                    await thrownError(JournalFault.self) { try await journal.run(every: .zero, results: 1) }
                }
                for index in 0..<10 {
                    group.addTask {
                        await thrownError(JournalFault.self) {
                            try journal.append(accepted(job(1), index..<(index + 1)))
                            try await journal.sync()
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(faults.count == 11 && !faults.contains(nil))
        }
    #endif
}
