import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore

/// What the journal costs: the file operations of small jobs without it, with it, and with a sync for each job instead.
final class JournalRun {
    /// What outlives a power loss, and how.
    enum Mode: String, CaseIterable {
        /// Nothing: the bare renames.
        case none
        /// All, by the journal: as many jobs as the daemon claims together share a sync.
        case journal
        /// All, by one fdatasync(2) for each job.
        case each
    }

    /// How many jobs share a sync, as in the daemon.
    private static let groupCount = 64
    /// The bytes of a job for one token.
    private static let job = Array(
        #"{"token":"740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad","alert":"Hello","sound":"default"}"#
            .utf8)

    private let new: Directory
    private let work: Directory
    private let done: Directory
    private let journal: Journal
    private let log: OpenFile
    private let names: [[UInt8]]
    private let mode: Mode

    /// Drops `count` jobs in an empty folder.
    init(_ mode: Mode, _ count: Int, in path: String) throws {
        let folder = try Directory.open(path: path).makeChild(Array(mode.rawValue.utf8), mode: 0o700)
        new = try folder.makeChild(Array("new".utf8), mode: 0o700)
        work = try folder.makeChild(Array("work".utf8), mode: 0o700)
        done = try folder.makeChild(Array("done".utf8), mode: 0o700)
        journal = try JournalLock.openJournal(of: "bench", in: folder, layout: JournalLayout(byteCount: 64 << 20))
            .journal
        log = try folder.create(Array("log".utf8), mode: 0o600)
        names = (0..<count).map { Array("job-\($0).json".utf8) }
        self.mode = mode
        for name in names { try new.create(name, mode: 0o600).write(Self.job) }
        try folder.syncFilesystem(.other)
    }

    /// Takes all jobs to `done`, and says what that cost.
    func measure() throws -> String {
        let (start, times) = (ContinuousClock.now, ProcessTimes.now())
        for first in stride(from: 0, to: names.count, by: Self.groupCount) {
            try claim(first..<min(first + Self.groupCount, names.count))
        }
        let (wall, used) = (ContinuousClock.now - start, ProcessTimes.now() - times)
        let cpu = (used.user + used.system) / .seconds(1)
        return """
            {"mode":"\(mode.rawValue)","jobs":\(names.count),"cpu_seconds":\(cpu),"wall_seconds":\(wall / .seconds(1)),\
            "jobs_per_cpu_second":\(Int(Double(names.count) / cpu)),\
            "jobs_per_second":\(Int(Double(names.count) / (wall / .seconds(1))))}
            """
    }

    private func claim(_ group: Range<Int>) throws {
        for index in group {
            let bytes = try new.contents(of: names[index], limit: 1 << 16) ?? []
            try announce(index, bytes)
        }
        if mode == .journal { try journal.flush() }
        for index in group {
            try new.rename(names[index], to: work, as: names[index])
            if mode == .journal { try conclude(index) }
        }
        if mode == .journal { try journal.flush() }
        for index in group {
            try work.rename(names[index], to: done, as: names[index])
            if mode == .journal { try journal.append(.cleaned(id(index))) }
        }
    }

    private func id(_ index: Int) -> JobID { JobID(bits: UInt128(index) + 1) }

    private func announce(_ index: Int, _ bytes: [UInt8]) throws {
        switch mode {
        case .none: break
        case .journal:
            guard let name = FileName(bytes: names[index]) else { return }
            var facts = JournalHeader.Facts(id: id(index), app: "bench", name: name)
            (facts.byteCount, facts.recipientCount) = (Int64(bytes.count), 1)
            try journal.append(.header(JournalHeader(facts, content: .bytes(bytes))))
        case .each:
            try log.write(bytes)
            try log.syncData(.other)
        }
    }

    private func conclude(_ index: Int) throws {
        guard let name = FileName(bytes: names[index]) else { return }
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        var tally = Tally()
        tally.add(.accepted, count: 1)
        let end = JournalFinal(Conclusion(tally: tally, fault: nil), day: "2026-11-21", name: name, finishedAt: now)
        try journal.append(.claimed(id(index)))
        try journal.append(.result(id(index), JournalResult(.accepted, [0..<1], at: now)))
        try journal.append(.final(id(index), end))
    }
}
