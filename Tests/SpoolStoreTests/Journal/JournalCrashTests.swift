import JournalModel

#if FAILPOINTS
    import PushModel
    import Glibc
    import LinuxIO
    import SpoolModel
    import SpoolStore
    import TestSupport
    import Testing

    @Suite struct JournalCrashTests {
        let test: TestJournal

        init() throws {
            test = try TestJournal()
        }

        @Test(arguments: [1, 2, 3, 17, 39])
        func `a killed process loses nothing that was written`(number: Int) async throws {
            let acknowledged = try TemporaryDirectory()
            let (path, other) = (test.place.path, acknowledged.path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [number, path = path as String, other = other as String] in
                let directory = try Directory.open(path: path)
                let (journal, _) = try JournalLock.openJournal(of: "host-a", in: directory, layout: TestJournal.layout)
                let count = try Directory.open(path: other).create(Array("count".utf8), mode: 0o600)
                try journal.append(.header(header(job(1))))
                FailPlan(under: path, points: FailPoint.list("\(number):kill") ?? []).install()
                for index in 0..<100 {
                    try journal.append(accepted(job(1), index..<(index + 1)))
                    try journal.write()
                    try count.write([UInt8(index + 1)], at: 0)
                }
            }
            let count = try #require(try acknowledged.directory.contents(of: Array("count".utf8), limit: 1)).first ?? 0
            let found = try test.open().replay.jobs[job(1)]
            #expect(count == 0 || found?.tally.accepted == Int(count), "after \(count)")
        }

        /// What a daemon did, and after how many changes it was told that which results are safe.
        private struct Run {
            var changes: [FileChange] = []
            var safe: [(changes: Int, results: Int)] = []

            func safeResults(after count: Int) -> Int {
                safe.last { $0.changes <= count }?.results ?? -1
            }
        }

        private func record(eliding site: SyncSite?) throws -> Run {
            let plan = FailPlan(under: test.place.path, eliding: site.map { [$0] } ?? [], isRecording: true)
            plan.install()
            defer { plan.remove() }
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1), bytes: 1500)))
            var run = Run()
            for index in 0..<6 {
                try journal.flush()
                run.safe.append((plan.changes.count, index))
                try journal.append(accepted(job(1), index..<(index + 1)))
                try journal.write()
            }
            run.changes = plan.changes
            return run
        }

        /// How many of the trees that a power loss may leave lack something that was said to be safe.
        private func losses(_ order: MemoryVolume.Order, eliding site: SyncSite? = nil) throws -> Int {
            var volume = MemoryVolume(at: test.place.path, order: order)
            let run = try record(eliding: site)
            var losses = 0
            for count in 0...run.changes.count {
                if count > 0 { try volume.apply(run.changes[count - 1]) }
                for state in volume.crashStates(seed: UInt64(count), count: 4) {
                    let found = try results(in: state)
                    if found < run.safeResults(after: count) { losses += 1 }
                }
            }
            return losses
        }

        /// How many results the next daemon finds; -1: not even the job.
        private func results(in state: CrashState) throws -> Int {
            let place = try TemporaryDirectory()
            try state.materialize(at: place.directory)
            let (_, replay) = try JournalLock.openJournal(of: "host-a", in: place.directory, layout: TestJournal.layout)
            #expect(replay.damage.isEmpty)
            return replay.jobs[job(1)]?.tally.accepted ?? -1
        }

        @Test(
            .catalogue(
                "B12 model-crash, the file of the journal alone", checks: [.nobodyLost, .fewDoubled], dice: .fixed),
            arguments: MemoryVolume.Order.allCases)
        func `a power loss takes nothing that was synced`(order: MemoryVolume.Order) throws {
            #expect(try losses(order) == 0)
        }

        /// The changes that a daemon makes which finds these results and records another.
        private func changesOfNext(at place: TemporaryDirectory, results: Int) throws -> [FileChange] {
            let plan = FailPlan(under: place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            let (journal, _) = try JournalLock.openJournal(
                of: "host-a", in: place.directory, layout: TestJournal.layout)
            try journal.append(accepted(job(1), results..<(results + 1)))
            try journal.flush()
            return plan.changes
        }

        @Test(
            .catalogue(
                "B12 model-crash, the file of the journal alone, twice", checks: [.nobodyLost, .fewDoubled],
                dice: .fixed), arguments: MemoryVolume.Order.allCases)
        func `neither does a second one, while the next daemon starts`(order: MemoryVolume.Order) throws {
            var volume = MemoryVolume(at: test.place.path, order: order)
            let run = try record(eliding: nil)
            for (count, change) in run.changes.enumerated() {
                try volume.apply(change)
                let state = try #require(volume.crashStates(seed: UInt64(count), count: 4).last)
                let place = try TemporaryDirectory()
                try state.materialize(at: place.directory)
                let known = try results(in: state)
                guard known >= 0 else { continue }
                var second = try MemoryVolume(copying: place.directory, order: order)
                let changes = try changesOfNext(at: place, results: known)
                for (number, change) in changes.enumerated() {
                    try second.apply(change)
                    let left = try #require(second.crashStates(seed: UInt64(number), count: 4).last)
                    let found = try results(in: left)
                    let least = number == changes.count - 1 ? known + 1 : known
                    #expect(found >= least, "cut after \(count), then after \(number)")
                }
            }
        }

        @Test(arguments: [SyncSite.journal, .journalFolder])
        func `without this sync a power loss takes what was said to be safe`(site: SyncSite) throws {
            #expect(try losses(.ordered, eliding: site) > 0)
        }
    }
#endif
