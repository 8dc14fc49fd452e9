import Foundation
import JournalModel
import PushModel
import TestSupport

/// Which files of a job exist after a crash, and what the journal knows of the job. The job's name is `a.json`.
struct DiskState: Hashable {
    /// A file of the job.
    enum File: String {
        case absent = "–"
        case whole = "job"
        /// A power loss took its bytes, or a part of them.
        case torn = "torn job"
    }

    /// How far the journal's records of the job go.
    enum Record: String, CaseIterable {
        case none = "–"
        case announced, claimed
        case inDoubt = "in doubt"
        case restInDoubt = "rest in doubt"
        case someOutcomes = "some outcomes"
        case allOutcomes = "all outcomes"
        case ended, published
    }

    let record: Record
    let new, work, hold, archived: File
    let hasRemainder, hasResult: Bool
    /// How many folders of `done/` and `failed/` have the job.
    private let archiveCount: Int

    /// Reads the state of the job in a spool.
    ///
    /// - Parameters:
    ///   - tree: the spool.
    ///   - job: the journal's record of the job, if there is one.
    ///   - bytes: the job's file as it was dropped.
    init(of tree: CrashState, _ job: JournalJob?, bytes: [UInt8]) {
        func file(in folder: String, _ isOurs: (String) -> Bool = { $0 == "a.json" }) -> File {
            guard let name = tree.names(in: folder)?.first(where: isOurs) else { return .absent }
            return tree.bytes(of: "\(folder)/\(name)") == bytes ? .whole : .torn
        }
        let days = ["weather/done", "weather/failed"].flatMap { folder in
            (tree.names(in: folder) ?? []).map { "\(folder)/\($0)" }
        }
        new = file(in: "weather/new")
        work = file(in: "weather/work/node-a") { $0.hasSuffix("-a.json") }
        hold = file(in: "weather/hold")
        let archived = days.map { file(in: $0) }.filter { $0 != .absent }
        (self.archived, archiveCount) = (archived.first ?? .absent, archived.count)
        hasRemainder = tree.bytes(of: "weather/hold/a.json.rest") != nil
        hasResult = days.contains { tree.bytes(of: "\($0)/a.json.result.json") != nil }
        record = job.map(Record.init) ?? .none
    }

    /// Whether nothing is left of the job.
    var isNothing: Bool { placeCount == 0 && record == .none && !hasRemainder && !hasResult }

    /// Whether a file of the job lacks bytes.
    var hasTorn: Bool { [new, work, hold, archived].contains(.torn) }

    /// How many folders have the job.
    var placeCount: Int { [new, work, hold].count { $0 != .absent } + archiveCount }

    /// The cells of its row: the folders, and the journal.
    var cells: [String] {
        func cell(_ file: File, _ other: String?) -> String {
            guard let other else { return file.rawValue }
            return file == .absent ? other : "\(file.rawValue), \(other)"
        }
        return [
            new.rawValue, work.rawValue, cell(hold, hasRemainder ? "`.rest`" : nil),
            cell(archived, hasResult ? "result" : nil), record.rawValue,
        ]
    }
}

extension DiskState: Comparable {
    /// Whether the left state comes first in the table: by the journal, then by the folders.
    static func < (left: DiskState, right: DiskState) -> Bool { left.key.lexicographicallyPrecedes(right.key) }

    private var key: [String] {
        let rank = Record.allCases.firstIndex(of: record) ?? 0
        return ["\(rank)"] + [archived, hold, work, new].map { $0 == .absent ? "" : $0.rawValue }
            + ["\(hasRemainder)\(hasResult)"]
    }
}

extension DiskState.Record {
    fileprivate init(_ job: JournalJob) {
        if job.final != nil {
            self = job.isFinalTold ? .published : .ended
        } else if job.remaining.isEmpty, job.facts.recipientCount > 0 {
            self = .allOutcomes
        } else if !job.intents.isEmpty {
            self = job.intents.count == job.remaining.count ? .restInDoubt : .inDoubt
        } else if job.remaining.count < job.facts.recipientCount {
            self = .someOutcomes
        } else {
            self = job.isClaimed ? .claimed : .announced
        }
    }
}

/// Reads the journals of many trees, most of which are equal.
struct JournalMemo {
    /// A journal that is small enough to read thousands of times.
    static let layout = JournalLayout(byteCount: 4096 + (1 << 20), regionByteCount: 64 << 10)

    private var known: [(bytes: Data, job: JournalJob?)] = []

    /// Returns the journal's record of the only job in a tree; `nil` if there is none.
    mutating func job(in tree: CrashState) -> JournalJob? {
        guard let bytes = tree.bytes(of: ".pushspool/node-a/journal") else { return nil }
        // Unlike arrays, they are compared quickly in a debug build.
        let data = Data(bytes)
        if let earlier = known.last(where: { $0.bytes == data }) { return earlier.job }
        let job = JournalReplay(bytes)?.jobs.values.first
        known.append((data, job))
        if known.count > 4 { known.removeFirst() }
        return job
    }
}

extension JournalReplay {
    /// Reads the bytes of a journal's file; `nil` if they are not those of a whole one.
    fileprivate init?(_ bytes: [UInt8]) {
        guard let label = JournalLabel(bytes: Array(bytes.prefix(JournalLayout.labelByteCount))),
            bytes.count >= label.layout.byteCount
        else { return nil }
        func piece(_ count: Int, of region: Int) -> [UInt8] {
            let start = Int(label.layout.offset(ofRegion: region))
            return Array(bytes[start..<start + count])
        }
        self.init(layout: label.layout)
        for index in 0..<layout.regionCount { addHead(piece(Self.headByteCount, of: index), index: index) }
        for index in readingOrder { addRegion(piece(layout.regionByteCount, of: index), index: index) }
        finish()
    }
}
