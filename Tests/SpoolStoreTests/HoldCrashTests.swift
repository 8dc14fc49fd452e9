#if FAILPOINTS
    import PushModel
    import JobFormat
    import LinuxIO
    import SpoolModel
    import SpoolStore
    import TestSupport
    import Testing

    @Suite struct HoldCrashTests {
        /// The journal forgets a job that is held: nothing would know then that the other file is the same job.
        @Test(
            .catalogue("B11 both-dirs-btrfs, a held job", checks: [.onePlace], dice: .fixed),
            arguments: MemoryVolume.Order.allCases)
        func `a held job is in hold alone whatever a power loss leaves`(order: MemoryVolume.Order) throws {
            let test = try TestSpool()
            let name = try fileName("a.json")
            try test.app.new.put("a.json", "{}")
            var volume = try MemoryVolume(copying: test.place.directory, order: order)
            let plan = FailPlan(under: test.place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            guard case .claimed(let job) = try test.app.claim(try test.opened(name), id: JobID(bits: 1)) else {
                throw NotClaimed()
            }
            #expect(try test.app.hold.park(job) == name)
            try volume.apply(plan.changes)
            for state in volume.crashStates(seed: 1, count: 20) {
                #expect(state.names(in: "weather/hold") == ["a.json"])
                #expect(state.names(in: "weather/new") == [] && state.names(in: "weather/work/host-a") == [])
            }
        }

        /// A move to or from `hold/`.
        enum Move: CaseIterable {
            case holdWaiting, holdUnread, holdClaimed, release, giveBack, retry, depart

            /// Where the file is before the jobs are claimed.
            var folder: String {
                switch self {
                case .holdWaiting, .holdUnread, .holdClaimed, .giveBack: "new"
                case .release, .depart: "hold"
                case .retry: "failed/2026-11-21"
                }
            }
        }

        /// The journal forgets the job after the move, and with it the bytes that the producer may not have synced.
        @Test(arguments: [Move.holdClaimed, .giveBack], MemoryVolume.Order.allCases)
        func `a claimed job that leaves work has its bytes whatever a power loss leaves`(
            move: Move, order: MemoryVolume.Order
        ) throws {
            let test = try TestSpool()
            let name = try fileName("a.json")
            try test.app.new.put("a.json", "{}")
            var volume = try MemoryVolume(copying: test.place.directory, order: order, unsynced: ["weather/new"])
            // Else the move syncs the whole filesystem.
            test.app.archives.noteSettled()
            let plan = FailPlan(under: test.place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            try move.carryOut(name, try test.claimed(name, id: 3), in: test.app)
            try volume.apply(plan.changes)
            let folder = move == .giveBack ? "new" : "hold"
            for state in volume.crashStates(seed: 1, count: 20) {
                #expect(state.bytes(of: "weather/\(folder)/a.json") == Array("{}".utf8))
            }
        }

        /// An error in one producer's file must not end the daemon, as a failed sync of the journal does.
        @Test func `a claimed job whose bytes cannot be synced stays in work, and only that one`() throws {
            let test = try TestSpool()
            try test.app.new.put("a.json", "{}")
            let job = try test.claimed(try fileName("a.json"), id: 3)
            // The first operation opens it.
            let plan = FailPlan(under: test.place.path, points: FailPoint.list("2:eio") ?? [])
            plan.install()
            defer { plan.remove() }
            let error = try #require(throws: SystemError.self) { _ = try test.app.hold.park(job) }
            #expect(error.isBrokenFilesystem && !error.isFailedSync)
            #expect(try test.app.holdDirectory.names().isEmpty)
            #expect(try test.app.work.status(of: job.entry.bytes) != nil)
        }

        /// A move syncs the folders that other jobs have left, too. Where an unsynced rename is lost by that, they must be
        /// safe before, also those that a daemon moved before it died.
        @Test(arguments: Move.allCases, [false, true])
        func `no job is lost whose move was not synced when another file is moved`(move: Move, isLater: Bool) throws {
            let test = try TestSpool()
            let name = try fileName("a.json")
            let others = try ["claimed.json", "archived.json", "released.json"].map(fileName)
            for other in others[..<2] { try test.app.new.put(other.bytes, Array("{}".utf8)) }
            try test.app.holdDirectory.put(others[2].bytes, Array("{}".utf8))
            _ = try test.folder("failed").makeChild(Array("2026-11-21".utf8), mode: 0o700)
            try test.folder(move.folder).put(name.bytes, Array("{}".utf8))
            var volume = try MemoryVolume(copying: test.place.directory, order: .loose)
            // From then on it knows which folders have changed.
            try test.app.archives.settle()
            let plan = FailPlan(under: test.place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            _ = try test.claimed(others[0], id: 1)
            let place = try test.app.archives.place(for: others[1], in: .done, at: test.noon, withResult: false)
            _ = try test.app.archives.archive(try test.claimed(others[1], id: 2), at: place, result: nil)
            let claimed = [.holdClaimed, .giveBack].contains(move) ? try test.claimed(name, id: 3) : nil
            // A daemon may die between a release and its sync.
            if isLater { try test.app.holdDirectory.rename(others[2].bytes, to: test.app.new, as: others[2].bytes) }
            try move.carryOut(name, claimed, in: isLater ? try test.restarted() : test.app)
            let folders = ["new", "work/host-a", "hold", "done/2026-11-21", "failed/2026-11-21"]
            try volume.crash(during: plan.changes, count: 8) { step, state in
                let found = folders.flatMap { state.names(in: "weather/\($0)") ?? [] }
                for name in others + [name] {
                    #expect(found.contains { $0.hasSuffix(name.escaped) }, "\(name) is nowhere after step \(step)")
                }
            }
        }
    }

    extension HoldCrashTests.Move {
        func carryOut(_ name: FileName, _ claimed: ClaimedJob?, in app: AppSpool) throws {
            let (rest, id) = (Array("{}".utf8), JobID(bits: 4))
            switch self {
            case .holdWaiting:
                let file = try #require(try app.look(name))
                _ = try #require(try app.hold.park(waiting: file, id: id, leaving: rest))
            case .holdUnread:
                guard case .opened(let job) = try app.open(name) else { throw NotClaimed() }
                _ = try app.hold.park(unclaimed: job)
            case .holdClaimed:
                let job = try #require(claimed)
                _ = try app.hold.park(job, leaving: rest)
            case .release:
                let file = try #require(try app.hold.look(name))
                _ = try #require(try app.hold.release(file))
            case .giveBack:
                let job = try #require(claimed)
                _ = try #require(try app.hold.giveBack(job, leaving: rest))
            case .retry:
                let place = ArchivePlace(folder: .failed, day: "2026-11-21", name: name)
                _ = try #require(try app.hold.takeOut(place, as: name, leaving: rest))
            case .depart:
                let place = ArchivePlace(folder: .failed, day: "2026-11-21", name: name)
                let file = try #require(try app.hold.look(name))
                #expect(try app.depart(file, from: .hold, to: place) == .moved(place))
                try app.hold.syncDepartures()
            }
        }
    }
#endif
