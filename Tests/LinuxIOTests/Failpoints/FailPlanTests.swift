#if FAILPOINTS
    import Glibc
    import LinuxIO
    import TestSupport
    import Testing

    @Suite struct FailPlanTests {
        let place: TemporaryDirectory
        let name = Array("file".utf8)

        init() throws {
            place = try TemporaryDirectory()
        }

        /// Six operations: create, chmod, write, sync, rename, close.
        private func work() throws {
            let file = try place.directory.create(name, mode: 0o600)
            try file.write(name)
            try file.sync()
            try place.directory.rename(name, to: place.directory, as: Array("other".utf8))
            try file.closeNow()
        }

        private func plan(_ points: String = "", eliding: Set<SyncSite> = []) throws -> FailPlan {
            FailPlan(under: place.path, points: try #require(FailPoint.list(points)), eliding: eliding)
        }

        @Test func `every operation below the directory is counted, and no other`() throws {
            let (plan, elsewhere) = (try plan(), try TemporaryDirectory())
            plan.install()
            defer { plan.remove() }
            try work()
            try elsewhere.directory.put("file")
            #expect(plan.passedCount == 6)
        }

        @Test func `a plan that is removed is out of force`() throws {
            let plan = try plan("1:eio")
            plan.install()
            plan.remove()
            try work()
            #expect(plan.passedCount == 0)
        }

        @Test(arguments: 1...6, [FailPoint.Action.eio, .enospc])
        func `the operation that is named fails, and no other`(number: Int, action: FailPoint.Action) throws {
            let plan = try plan("\(number):\(action)")
            plan.install()
            defer { plan.remove() }
            let error = #expect(throws: SystemError.self) { try work() }
            #expect(error?.code == (action == .eio ? EIO : ENOSPC))
            #expect(plan.passedCount == number)
        }

        @Test func `a volume stays full for what needs space, and for that only`() throws {
            try place.directory.put("old", "text")
            let plan = try plan("1+:enospc")
            plan.install()
            defer { plan.remove() }
            #expect(try place.directory.text("old") == "text")
            #expect(throws: SystemError.self) { try place.directory.put("new") }
            #expect(throws: SystemError.self) {
                try place.directory.rename(Array("old".utf8), to: place.directory, as: Array("new".utf8))
            }
            #expect(try place.directory.unlink(Array("old".utf8)))
        }

        @Test func `a sync that is left out says that all is well`() throws {
            let plan = try plan("1:eio", eliding: [.journal])
            plan.install()
            defer { plan.remove() }
            try place.directory.sync(.journal)
            #expect(plan.passedCount == 0)
            #expect(throws: SystemError.self) { try place.directory.sync(.feedbackFolder) }
        }

        @Test func `a file whose close fails is closed`() throws {
            let file = try place.directory.openForWriting(name, mode: 0o600)
            #expect(try file.lock())
            let plan = try plan("1:eio")
            plan.install()
            var code: Int32?
            do { try file.closeNow() } catch { code = error.code }
            plan.remove()
            #expect(code == EIO)
            #expect(try place.directory.openForWriting(name, mode: 0o600).lock())
        }

        @Test(arguments: ["", "x", "0:kill", "-1:kill", "1:", "1:burn", "1", ":kill", "1:kill:2"])
        func `what is no failpoint is not taken for one`(text: String) {
            #expect(FailPoint(text) == nil)
        }

        @Test(arguments: 1...6)
        func `a process dies before the operation that the environment names`(number: Int) async throws {
            let path = place.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [number, path = path as String] in
                // The first operation is opening the directory itself.
                unsafe setenv("PUSHSPOOL_FAILPOINT", "\(number + 1):kill", 1)
                unsafe setenv("PUSHSPOOL_FAILPOINT_UNDER", path, 1)
                let directory = try Directory.open(path: path)
                let file = try directory.create(Array("file".utf8), mode: 0o600)
                try file.write(Array("text".utf8))
                try file.sync()
                try directory.rename(Array("file".utf8), to: directory, as: Array("other".utf8))
                try file.closeNow()
                try directory.put("too late")
            }
            let names = try place.directory.sortedNames()
            #expect(names == [[], ["file"], ["file"], ["file"], ["file"], ["other"]][number - 1])
        }

        @Test func `a failpoint that cannot be read ends the program`() async throws {
            await #expect(processExitsWith: .failure) {
                unsafe setenv("PUSHSPOOL_FAILPOINT", "soon", 1)
                _ = try Directory.open(path: "/")
            }
        }
    }
#endif
