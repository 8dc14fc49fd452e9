import Foundation
import JobFormat
import JournalModel
import LinuxIO
import SpoolModel
import SpoolStore
import TestSupport

/// Who was announced in the journal and had no outcome when a daemon died: of those, and of no others, it must be told
/// that nobody knows.
struct Doubts {
    private var announced: [String: IndexRuns] = [:]

    /// How many there are.
    var count: Int { announced.values.reduce(0) { $0 + $1.count } }

    /// Reads what the journal of a dead daemon announces, in a copy: opening it is a new start.
    mutating func note(_ bench: Bench) throws {
        let path = bench.spool + "/.pushspool/node-a"
        // One that dies early has made no folder, or no journal in it yet.
        guard FileManager.default.fileExists(atPath: path + "/journal") else { return }
        let own = try Directory.open(path: path)
        guard let bytes = try own.contents(of: Array("journal".utf8), limit: 1 << 30), !bytes.isEmpty else { return }
        let place = try TemporaryDirectory()
        try place.directory.create(Array("journal".utf8), mode: 0o600).write(bytes)
        let layout = JournalLayout(byteCount: Journal.usualByteCount)
        let (_, replay) = try JournalLock.openJournal(of: "node-a", in: place.directory, layout: layout)
        for job in replay.jobs.values where !job.intents.isEmpty {
            let name = String(decoding: job.facts.name.bytes, as: UTF8.self)
            for range in job.intents.runs { announced[name, default: IndexRuns()].insert(range) }
        }
    }

    /// In what the feedback differs, by job; what was released from `hold/` was sent again as a whole.
    func differences(in bench: Bench) throws -> [String] {
        var told: [String: IndexRuns] = [:]
        for line in try bench.setup.apps.flatMap({ try bench.lines($0) }) where line.outcome == "unknown" {
            guard let job = line.job, let index = line.index else { continue }
            told[job, default: IndexRuns()].insert(index..<index + 1)
        }
        return Set(announced.keys).union(told.keys).subtracting(bench.drops.released).sorted().compactMap { job in
            let (expected, found) = (announced[job] ?? IndexRuns(), told[job] ?? IndexRuns())
            return expected == found ? nil : "\(job): in doubt \(expected.runs), told \(found.runs)"
        }
    }
}
