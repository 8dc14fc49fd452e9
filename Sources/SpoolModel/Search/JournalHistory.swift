package import APNSModel

/// What a journal tells of some jobs: the records about them, in the order in which they were written.
///
/// Give it the regions in the order in which `JournalReplay` wants them.
package struct JournalHistory: Sendable {
    /// What it tells of one job.
    package struct Trace: Sendable {
        /// The facts of its header; `nil` if that is not in the journal any more.
        package fileprivate(set) var facts: JournalHeader.Facts?
        /// How it ended.
        package fileprivate(set) var final: JournalFinal?
        private var first: [String] = []
        private var last: [String] = []
        private var skippedCount = 0

        /// How many lines are kept of its beginning, and of its end.
        private static let firstCount = 20
        private static let lastCount = 40

        /// Its records in words, as `JournalText` has them; of very many, the first and the last.
        package var lines: [String] {
            skippedCount == 0 ? first + last : first + ["… \(skippedCount) records …"] + last
        }

        fileprivate mutating func add(_ line: String) {
            guard first.count == Self.firstCount else { return first.append(line) }
            last.append(line)
            guard last.count > Self.lastCount else { return }
            last.removeFirst()
            skippedCount += 1
        }
    }

    /// What it tells, by job.
    package private(set) var traces: [JobID: Trace] = [:]
    private let wishes: JobWishes

    /// Will note what is told of these jobs; of those that are not named by their id, from their header on.
    package init(_ wishes: JobWishes) {
        self.wishes = wishes
    }

    /// Takes a whole region.
    package mutating func addRegion(_ bytes: [UInt8], index: Int) {
        guard let head = JournalRegionHead(bytes: bytes, index: index) else { return }
        var reader = JournalRegionReader(bytes, epoch: head.epoch)
        while let entry = reader.next() {
            guard let id = entry.record.job, isMeant(id, entry.record) else { continue }
            var trace = traces[id] ?? Trace()
            if case .header(let header) = entry.record { trace.facts = header.facts }
            if case .final(_, let final) = entry.record { trace.final = final }
            trace.add(JournalText.line(of: entry))
            traces[id] = trace
        }
    }

    private func isMeant(_ id: JobID, _ record: JournalRecord) -> Bool {
        if traces[id] != nil { return true }
        guard case .header(let header) = record else { return wishes.isMeant(id) }
        return !wishes.positions(name: header.facts.name, id: id, app: header.facts.app).isEmpty
    }
}

extension JournalRecord {
    /// The job that the record is about; `nil` of one about something else.
    package var job: JobID? {
        switch self {
        case .header(let header): header.facts.id
        case .claimed(let id), .intent(let id, _), .result(let id, _), .reopened(let id, _), .final(let id, _),
            .cleaned(let id), .runs(let id, _), .untold(let id, _), .checkpoint(let id, _):
            id
        case .published, .start, .ended, .suspect, .stopped, .synced, .distrusted, .end, .begun: nil
        }
    }
}
