package import JournalModel
package import PushModel

/// The records of some jobs in a journal, in the order in which they were written.
///
/// Add the regions in the order that `JournalReplay` specifies.
package struct JournalHistory: Sendable {
    /// The records of one job.
    package struct Trace: Sendable {
        /// The facts of its header; `nil` if the header is no longer in the journal.
        package fileprivate(set) var facts: JournalHeader.Facts?
        /// How the job ended; `nil` if no record says so.
        package fileprivate(set) var final: JournalFinal?
        private var first: [String] = []
        private var last: [String] = []
        private var skippedCount = 0

        /// How many lines are kept from the start, and how many (`lastCount`) from the end.
        private static let firstCount = 20
        private static let lastCount = 40

        /// The records as text, in the form of `JournalText`; of a long list, the first and the last.
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

    /// The records by job.
    package private(set) var traces: [JobID: Trace] = [:]
    private let queries: JobQueries

    /// Creates a history of these jobs. For a job not named by its id, it starts with the job's header.
    package init(_ queries: JobQueries) {
        self.queries = queries
    }

    /// Adds a whole region.
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
        guard case .header(let header) = record else { return queries.isMeant(id) }
        return !queries.positions(name: header.facts.name, id: id, app: header.facts.app).isEmpty
    }
}

extension JournalRecord {
    /// The job that the record belongs to; `nil` if it does not belong to one.
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
