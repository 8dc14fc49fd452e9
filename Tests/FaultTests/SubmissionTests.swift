#if FAILPOINTS
    import Foundation
    import LinuxIO
    import SpoolClient
    import TestSupport
    import Testing

    /// What a client promises: that a job which was submitted is dropped for good.
    @Suite(.serialized) struct SubmissionTests {
        @Test(arguments: MemoryVolume.Order.allCases)
        func `a job that was submitted is there and whole whatever a power loss leaves`(order: MemoryVolume.Order)
            throws
        {
            #expect(try losses(order) == 0)
        }

        @Test(arguments: [SyncSite.submission, .submissionFolder], MemoryVolume.Order.allCases)
        func `a client that leaves out a sync is found out`(site: SyncSite, order: MemoryVolume.Order) throws {
            let count = try losses(order, eliding: site)
            report("B13 sync-elision \(site.rawValue), \(order): lost in \(count) of 20 trees; seed \(seed)")
            #expect(count > 0, "no test misses the sync \(site.rawValue)")
        }

        /// In how many trees that a power loss may leave the job is not what it was.
        private func losses(_ order: MemoryVolume.Order, eliding site: SyncSite? = nil) throws -> Int {
            let place = try TemporaryDirectory()
            let app = try place.directory.makeChild(Array("weather".utf8), mode: 0o755)
            for folder in ["new", "tmp"] { _ = try app.makeChild(Array(folder.utf8), mode: 0o700) }
            var volume = try MemoryVolume(copying: place.directory, order: order)
            let plan = FailPlan(under: place.path, eliding: site.map { [$0] } ?? [], isRecording: true)
            plan.install()
            defer { plan.remove() }
            let text = Array(Drop(number: 1, count: 1_200).text.utf8)
            let name = try Submission(app: "weather", spool: place.path).submit(text, name: "j1.json")
            try volume.apply(plan.changes)
            return volume.crashStates(seed: seed, count: 20).count { $0.bytes(of: "weather/new/\(name)") != text }
        }

        /// What happens to an app's folder at a file operation of a submission.
        enum Event: String, CaseIterable {
            /// It is moved, and a new one is made.
            case replaced
            /// The same, once the daemon that still has it has claimed what is there.
            case claimedAndReplaced
        }

        @Test(arguments: Event.allCases)
        func `a submission during which the folder is replaced succeeds only if its job is not lost`(event: Event)
            async throws
        {
            var (operation, successes, refusals) = (1, 0, 0)
            while try await submit(replacingAt: operation, event, &successes, &refusals) { operation += 1 }
            report("submit, \(event): \(operation - 1) operations, \(successes) succeed, \(refusals) are refused")
            #expect(successes > 0 && refusals > 0, "\(successes) \(refusals)")
        }

        /// Runs `pushspool submit` and lets `event` happen at one of its file operations. Returns whether it made so many.
        private func submit(
            replacingAt operation: Int, _ event: Event, _ successes: inout Int, _ refusals: inout Int
        ) async throws -> Bool {
            let place = try TemporaryDirectory()
            let files = FileManager.default
            func make() throws {
                for name in ["new", "tmp"] {
                    try files.createDirectory(
                        atPath: "\(place.path)/spool/weather/\(name)", withIntermediateDirectories: true)
                }
            }
            func jobs(in path: String) throws -> [String] {
                try files.contentsOfDirectory(atPath: "\(place.path)/\(path)")
            }
            try make()
            try place.directory.put("a.json", #"{"token":"00","alert":"x"}"#)
            let environment = [
                "PUSHSPOOL_FAILPOINT": "\(operation):stop", "PUSHSPOOL_FAILPOINT_UNDER": "\(place.path)/spool",
            ]
            let client = try Child(
                [try BuiltProgram.path, "submit", "--spool", place.path + "/spool", "--app", "weather"]
                    + [place.path + "/a.json"], environment: environment, logs: place.path)
            try await eventually("operation \(operation)") { client.isStopped || !client.process.isRunning }
            guard client.isStopped else {
                #expect(try await client.end() == 0, "\(client.log)")
                return false
            }
            let claimed = event == .claimedAndReplaced ? try jobs(in: "spool/weather/new") : []
            for job in claimed { try files.removeItem(atPath: "\(place.path)/spool/weather/new/\(job)") }
            try files.moveItem(atPath: place.path + "/spool/weather", toPath: place.path + "/elsewhere")
            try make()
            client.send(SIGCONT)
            let code = try await client.end()
            let count = try jobs(in: "elsewhere/new").count + jobs(in: "spool/weather/new").count + claimed.count
            #expect(count == (code == 0 ? 1 : 0), "operation \(operation): \(code), \(client.log)")
            if code == 0 { successes += 1 } else { refusals += 1 }
            return true
        }

        @Test(.needs(.ext4), arguments: [true, false])
        func `what pushspool submit has printed is there after a power loss`(hasFolders: Bool) async throws {
            try await Bench.running(.init(volume: .calm(.ext4))) { bench in
                let volume = try #require(bench.volume)
                if hasFolders { try await bench.finish() }
                try await volume.settle()
                let job = Drop(number: 1, count: 1_200)
                try bench.write(job.name, job.text)
                let printed = try await volume.run(
                    BuiltProgram.path, "submit", "--spool", "\(volume.point)/spool", "--app", "weather",
                    "\(bench.home)/\(job.name)")
                try await volume.losePower()
                try await volume.comeBack()
                let name = printed.trimmingCharacters(in: .whitespacesAndNewlines)
                report("B17 submit, folders \(hasFolders): \(bench.names(in: "weather/new")); seed \(seed)")
                #expect(bench.names(in: "weather/new") == [name])
                let bytes = FileManager.default.contents(atPath: "\(bench.spool)/weather/new/\(name)")
                #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == job.text)
            }
        }
    }
#endif
