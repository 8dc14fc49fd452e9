import Foundation
import GatewaySimulator
import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// What a daemon does about what the journal says of another's jobs.
@Suite struct LeftJobTests {
    /// Not so long ago that the time of a job is up.
    private let then = WallTime(epochSeconds: Int64(Date.now.timeIntervalSince1970) - 3600)

    /// What may be otherwise with a job that was left.
    enum Oddity: CaseIterable {
        /// Its rename was not recorded.
        case unclaimed
        /// The disk had another number.
        case onOtherDevice
    }

    /// Moves the job that was left to another place of its app, such as `new/left.json`.
    private func moveLeft(to place: String, on bench: Bench) throws {
        let app = bench.path + "/spool/weather"
        let entry = try #require(bench.names(in: "weather/work/node-a").first)
        try FileManager.default.moveItem(atPath: "\(app)/work/node-a/\(entry)", toPath: "\(app)/\(place)")
    }

    /// Puts a job where a daemon that died left it, and gives the journal what `records` adds to its header and claim.
    private func leave(
        _ text: String, _ oddities: Set<Oddity> = [], on bench: Bench, _ records: (JobID, Journal) throws -> Void
    ) throws -> JobID {
        let spool = try Spool(path: bench.path + "/spool", node: "node-a", journalByteCount: 8 << 20)
        let app = try spool.app("weather")
        let name = try #require(FileName("left.json"))
        let id = JobID(bits: 77)
        let bytes = Array(text.utf8)
        let claimed = try app.restore(id, name, bytes)
        var facts = JournalHeader.Facts(id: id, app: "weather", name: name)
        (facts.byteCount, facts.recipientCount) = (Int64(bytes.count), text.matches(of: /[0-9a-f]{64}/).count)
        (facts.droppedAt, facts.claimedAt) = (then, then)
        (facts.device, facts.inode) = (claimed.status.device, claimed.status.inode)
        if oddities.contains(.onOtherDevice) { facts.device += 1 }
        facts.onDoubt = text.contains("on_doubt") ? .report : .resend
        let isShort = bytes.count <= JournalHeader.byteLimit
        let content = isShort ? JournalHeader.Content.bytes(bytes) : .checks([CRC32C.checksum(bytes.span)])
        try spool.journal.append(.header(JournalHeader(facts, content: content)))
        if !oddities.contains(.unclaimed) { try spool.journal.append(.claimed(id)) }
        try records(id, spool.journal)
        try spool.journal.write()
        return id
    }

    private let text = #"{"tokens":["\#(token(1))","\#(token(2))"],"alert":"Hi"}"#

    @Test func `a job that had ended before the crash keeps the time of its end`() async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try end(id, count: 2, in: journal)
            }
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.accepted == 2 && line.finished_at == then.rfc3339)
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    /// What the journal has of a job that came to its end, all accepted.
    private func end(_ id: JobID, count: Int, in journal: Journal) throws {
        try journal.append(.result(id, JournalResult(.accepted, [0..<count], at: then)))
        var tally = Tally()
        tally.add(.accepted, count: count)
        let conclusion = Conclusion(tally: tally, fault: nil)
        let name = try #require(FileName("left.json"))
        try journal.append(.final(id, JournalFinal(conclusion, day: then.day, name: name, finishedAt: then)))
    }

    // btrfs does this: claims are not synced, and only one directory of a rename may come back. Of a long file the journal
    // has checksums only.
    @Test(
        .catalogue("B11 both-dirs-btrfs, a job that had ended", checks: [.fewDoubled, .toldFirst]),
        arguments: [2, 1_100])
    func `a job that had ended before a power loss put it back in new is told and archived, not sent`(
        count: Int
    ) async throws {
        try await Bench.running(try .init()) { bench in
            let tokens = (0..<count).map { #""\#(token($0))""# }.joined(separator: ",")
            _ = try leave(#"{"tokens":[\#(tokens)],"alert":"Hi"}"#, on: bench) { id, journal in
                try end(id, count: count, in: journal)
            }
            try moveLeft(to: "new/left.json", on: bench)
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.id == JobID(bits: 77).description && line.accepted == count)
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    @Test(
        .catalogue("B11 both-dirs-btrfs, a job that had got to hold", checks: [.onePlace, .fewDoubled]),
        arguments: ["left.json", "left~2.json"])
    func `a job that had got to hold before its end was known stays there, and nothing of it is sent`(
        name: String
    ) async throws {
        try await Bench.running(try .init()) { bench in
            // A disk may have another number after each start of the machine.
            _ = try leave(text, [.onOtherDevice], on: bench) { _, _ in }
            try FileManager.default.createDirectory(
                atPath: bench.path + "/spool/weather/hold", withIntermediateDirectories: true)
            try moveLeft(to: "hold/\(name)", on: bench)
            try await bench.withDaemon { _ in
                try bench.drop("next.json", job(3))
                #expect(try await bench.end(of: "next.json").accepted == 1)
                #expect(await bench.simulator.ledger.acceptedTokens.map(\.last) == [3])
                #expect(bench.names(in: "weather/hold") == [name] && bench.jobs(in: "done").count == 1)
            }
        }
    }

    @Test(arguments: Oddity.allCases)
    func `a job whose file a power loss tore in new is sent from the journal, and its remains go`(
        oddity: Oddity
    ) async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, [oddity], on: bench) { _, _ in }
            try moveLeft(to: "new/left.json", on: bench)
            try Data().write(to: URL(fileURLWithPath: bench.path + "/spool/weather/new/left.json"))
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.id == JobID(bits: 77).description && line.accepted == 2)
                #expect(bench.names(in: "weather/new").isEmpty && bench.jobs(in: "failed").isEmpty)
            }
        }
    }

    @Test func `a job that was back in new by another name when the daemon died is known by its file`() async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try journal.append(.result(id, JournalResult(.accepted, [0..<1], at: then)))
            }
            try moveLeft(to: "new/left~2.json", on: bench)
            try bench.drop("left.json", job(3))
            try await bench.withDaemon { _ in
                try await eventually("both end") { try bench.lines("job").count == 2 }
                let tokens = try await bench.accepted(2).acceptedTokens
                #expect(Set(tokens.map(\.last)) == [2, 3] && tokens.count == 2)
                #expect(try bench.lines("job").contains { $0.id == JobID(bits: 77).description && $0.accepted == 2 })
            }
        }
    }

    @Test(.catalogue("B11 both-dirs-btrfs, a job on its way back to new", checks: [.onePlace, .fewDoubled]))
    func `a job that a power loss left in work and by another name in new is sent once`() async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try journal.append(.result(id, JournalResult(.accepted, [0..<1], at: then)))
            }
            try bench.drop("left.json", job(3))
            let app = bench.path + "/spool/weather"
            let entry = try #require(bench.names(in: "weather/work/node-a").first)
            // A producer may drop a file by two names: that is not ours to remove.
            for name in ["left~2.json", "other.json"] {
                try FileManager.default.linkItem(atPath: "\(app)/work/node-a/\(entry)", toPath: "\(app)/new/\(name)")
            }
            try await bench.withDaemon { _ in
                try await eventually("all end") { try bench.lines("job").count >= 3 }
                let names = try bench.lines("job").compactMap(\.job)
                #expect(names.sorted() == ["left.json", "left.json", "other.json"])
                #expect(try await bench.accepted(4).acceptedTokens.compactMap(\.last).sorted() == [1, 2, 2, 3])
            }
        }
    }

    /// What stands in the place in the archive that a job was to have.
    enum Occupant: CaseIterable {
        case otherJob
        /// Another file of the same bytes.
        case copy
    }

    @Test(
        .catalogue(
            "B11 both-dirs-btrfs, a job whose place in the archive another has", checks: [.onePlace, .fewDoubled]),
        arguments: Occupant.allCases)
    func `a job that had ended and is in new again is not taken for another in its place in the archive`(
        occupant: Occupant
    ) async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try end(id, count: 2, in: journal)
            }
            try moveLeft(to: "new/left.json", on: bench)
            let day = bench.path + "/spool/weather/done/" + then.day
            try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
            try Data((occupant == .copy ? text : job(3)).utf8).write(to: URL(filePath: day + "/left.json"))
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.id == JobID(bits: 77).description && line.accepted == 2)
                try await eventually("it is archived") { bench.names(in: "weather/new").isEmpty }
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    @Test func `a job that is archived by another name, since its own was taken, is not restored`() async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try end(id, count: 2, in: journal)
            }
            let day = "done/" + then.day
            try FileManager.default.createDirectory(
                atPath: bench.path + "/spool/weather/" + day, withIntermediateDirectories: true)
            try Data(job(3).utf8).write(to: URL(filePath: bench.path + "/spool/weather/\(day)/left.json"))
            try moveLeft(to: day + "/left~2.json", on: bench)
            try await bench.withDaemon { _ in
                try bench.drop("next.json", job(4))
                #expect(try await bench.end(of: "next.json").accepted == 1)
                let left = bench.names(in: "weather/" + day).filter { $0.hasPrefix("left") }
                #expect(left.sorted() == ["left.json", "left~2.json"] && bench.jobs(in: "done").count == 3)
                #expect(await bench.simulator.ledger.arrivedCount == 1)
            }
        }
    }

    @Test func `a job that is archived is not restored because another in new has got the number of its file`()
        async throws
    {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try end(id, count: 2, in: journal)
            }
            try moveLeft(to: "new/next.json", on: bench)
            try putCopyInArchive(of: "new/next.json", on: bench)
            try overwrite("new/next.json", job(4), on: bench)
            try await bench.withDaemon { _ in
                #expect(try await bench.end(of: "next.json").accepted == 1)
                try await eventually("it is archived") { bench.jobs(in: "done").count >= 2 }
                #expect(bench.jobs(in: "done").sorted() == ["left.json", "next.json"])
                #expect(await bench.simulator.ledger.arrivedCount == 1)
            }
        }
    }

    @Test func `a job is not taken for parked because another in hold has got the number of its file`() async throws {
        try await Bench.running(try .init()) { bench in
            let id = try leave(text, on: bench) { _, _ in }.description
            try FileManager.default.createDirectory(
                atPath: bench.path + "/spool/weather/hold", withIntermediateDirectories: true)
            try moveLeft(to: "hold/other.json", on: bench)
            try bench.write("spool/weather/new/left.json", text)
            try overwrite("hold/other.json", job(4), on: bench)
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.accepted == 2 && line.id == id, "\(line)")
                #expect(bench.names(in: "weather/hold") == ["other.json"])
            }
        }
    }

    private func putCopyInArchive(of file: String, on bench: Bench) throws {
        let app = bench.path + "/spool/weather"
        let day = "\(app)/done/\(then.day)"
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: "\(app)/\(file)", toPath: day + "/left.json")
    }

    /// Gives a file other bytes; it stays the same file.
    private func overwrite(_ file: String, _ text: String, on bench: Bench) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: "\(bench.path)/spool/weather/\(file)"))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    @Test func `what is known of a job counts though the rest of it can no longer be sent`() async throws {
        try await Bench.running(try .init()) { bench in
            // Too long for the binary protocol, which the app did not have before.
            let alert = String(repeating: "x", count: 3_000)
            let text = #"{"tokens":["\#(token(1))","\#(token(2))"],"alert":"\#(alert)"}"#
            _ = try leave(text, on: bench) { id, journal in
                try journal.append(.result(id, JournalResult(.expired, [0..<1], at: then)))
            }
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.state == "failed" && line.expired == 1 && line.unsent == 1)
                let told = try bench.lines("notification")
                #expect(told.map(\.outcome) == ["expired", "unsent"] && told.map(\.index) == [0, 1])
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    @Test(.enabled(if: Immutable.isPossible, "needs chattr +i"))
    func `a job whose file cannot be taken back from new is not taken for another`() async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try journal.append(.result(id, JournalResult(.accepted, [0..<1], at: then)))
            }
            let file = bench.path + "/spool/weather/new/left.json"
            try moveLeft(to: "new/left.json", on: bench)
            try #require(Immutable.set(true, file))
            defer { _ = Immutable.set(false, file) }
            try await bench.withDaemon { daemon in
                try await daemon.says("job of an earlier run cannot be resumed")
                try bench.drop("next.json", job(3))
                #expect(try await bench.end(of: "next.json").accepted == 1)
                try #require(Immutable.set(false, file))
                let line = try await bench.end(of: "left.json")
                #expect(line.id == JobID(bits: 77).description && line.accepted == 2)
                #expect(await bench.simulator.ledger.acceptedTokens.compactMap(\.last).sorted() == [2, 3])
            }
        }
    }

    @Test func `what was not told of a job is told, also when nothing of it is left to be sent`() async throws {
        try await Bench.running(try .init()) { bench in
            // More than is read at a time: the first is in doubt, and the lines of the last are not out.
            let tokens = (0..<2100).map { #""\#(token($0))""# }.joined(separator: ",")
            let text = #"{"tokens":[\#(tokens)],"alert":"Hi","on_doubt":"report"}"#
            _ = try leave(text, on: bench) { id, journal in
                try journal.append(.intent(id, [0..<1]))
                try journal.append(.result(id, JournalResult(.accepted, [1..<2090], at: then)))
                try journal.append(.result(id, JournalResult(.expired, [2090..<2100], at: then)))
            }
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.accepted == 2089 && line.expired == 10 && line.unknown == 1)
                let told = try bench.lines("notification")
                #expect(told.filter { $0.outcome == "unknown" }.compactMap(\.index) == [0])
                #expect(told.filter { $0.outcome == "expired" }.compactMap(\.index).sorted() == Array(2090..<2100))
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    private let once = #"{"tokens":["\#(token(1))","\#(token(2))"],"alert":"Hi","id":"once"}"#

    @Test func `a job that had ended, and whose id nobody had kept, makes the next of the id a duplicate`() async throws
    {
        try await Bench.running(try .init()) { bench in
            _ = try leave(once, on: bench) { id, journal in
                try end(id, count: 2, in: journal)
            }
            try bench.drop("next.json", once)
            try await bench.withDaemon { _ in
                let next = try await bench.end(of: "next.json")
                #expect(next.duplicate_of == JobID(bits: 77).description && next.duplicate_of_at == then.rfc3339)
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a duplicate that was claimed before the crash is not sent after it`(hasEnded: Bool) async throws {
        try await Bench.running(try .init()) { bench in
            var first = ""
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("first.json", once)
                first = try #require(try await bench.end(of: "first.json").id)
                #expect(try await daemon.stop() == 0)
            }
            let earlier = SentTwin(id: try #require(JobID(first)), endedAt: then)
            _ = try leave(once, on: bench) { id, journal in
                guard hasEnded else { return }
                let name = try #require(FileName("left.json"))
                var final = JournalFinal(
                    Conclusion(tally: Tally(), fault: .duplicate), day: then.day, name: name, finishedAt: then)
                final.earlier = earlier
                try journal.append(.final(id, final))
            }
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.code == "duplicate" && line.duplicate_of == first)
                let result = try await bench.result(of: line)
                #expect(result.duplicate_of == first && result.duplicate_of_at == line.duplicate_of_at)
                #expect(await bench.simulator.ledger.acceptedCount == 2)
            }
        }
    }

    @Test func `a left job is taken up though the journal is full, and then there is room`() async throws {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                // Its line is not out, so it cannot be carried forward, and nothing behind it is free.
                try journal.append(.result(id, JournalResult(.expired, [0..<1], at: then)))
                try fill(journal)
            }
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "left.json")
                #expect(line.accepted == 1 && line.expired == 1)
                try bench.drop("next.json", job(3))
                #expect(try await bench.end(of: "next.json").accepted == 1)
            }
        }
    }

    /// Announces jobs that never were claimed, until no more go in.
    private func fill(_ journal: Journal) throws {
        let bytes = [UInt8](repeating: 32, count: 60_000)
        let name = try #require(FileName("never.json"))
        let fault = #expect(throws: JournalFault.self) {
            for number in 1000..<2000 {
                var facts = JournalHeader.Facts(id: JobID(bits: UInt128(number)), app: "weather", name: name)
                facts.byteCount = Int64(bytes.count)
                try journal.append(.header(JournalHeader(facts, content: .bytes(bytes))))
            }
        }
        #expect(fault == .full(.noRegion) && journal.claimRoom(of: "weather") == 0)
    }

    @Test func `a job of which the journal has lost the header is held, however often the journal came round since`()
        async throws
    {
        try await Bench.running(try .init()) { bench in
            _ = try leave(text, on: bench) { id, journal in
                try journal.append(.result(id, JournalResult(.accepted, [0..<1], at: then)))
                try pass(20, through: journal)
            }
            let journal = try FileHandle(forUpdating: URL(filePath: bench.path + "/spool/.pushspool/node-a/journal"))
            // Behind the label, the head of the first region and the beginning of the run.
            try journal.seek(toOffset: 4096 + 32 + 16 + 20)
            try journal.write(contentsOf: [0xFF])
            try journal.close()
            // A daemon in which the app does not run.
            do {
                let spool = try Spool(path: bench.path + "/spool", node: "node-a")
                #expect(spool.replay.hasLost)
                try pass(200, through: spool.journal)
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("job is held: its journal records may be damaged or lost")
                #expect(bench.names(in: "weather/hold") == ["left.json"])
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    /// Announces jobs and forgets them; 18 of them fill a region.
    private func pass(_ count: Int, through journal: Journal) throws {
        let name = try #require(FileName("passing.json"))
        for number in 1000..<1000 + count {
            let id = JobID(bits: UInt128(number))
            var facts = JournalHeader.Facts(id: id, app: "weather", name: name)
            facts.byteCount = 60_000
            let bytes = [UInt8](repeating: 32, count: 60_000)
            try journal.append(.header(JournalHeader(facts, content: .bytes(bytes))))
            try journal.append(.cleaned(id))
            try journal.write()
        }
    }
}
