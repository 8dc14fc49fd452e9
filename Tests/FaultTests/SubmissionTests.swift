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
