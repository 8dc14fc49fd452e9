package import JobFormat
import PushModel

/// The names in `new/` that cannot be jobs and stay there, and which of them have not been reported yet.
///
/// A producer may still rename a file that was just seen. So a name counts as ignored if it is still there `grace`
/// later, or if two complete scans in a row find it. Only the first `nameLimit` names are stored, and the others counted:
/// a producer may drop any number of files.
struct IgnoredNames: Sendable {
    /// The most names stored.
    static let nameLimit = 1_000
    /// How long a name must stay.
    static let grace = Duration.seconds(1)

    /// The names found by the current scan, those of the last complete scan, and those already reported.
    private var listed: Set<FileName> = []
    private var known: Set<FileName> = []
    private var told: Set<FileName> = []
    /// The names that were seen and are not known to stay, in the order of their times, and when to check each.
    private var fresh: [(name: FileName, moment: Moment)] = []
    private var freshNames: Set<FileName> = []
    private var listedCount = 0
    /// How many names the last complete scan found, if they were more than `nameLimit`.
    private var crowdCount: Int?
    /// Ignored names that have not been reported yet.
    private var news: [FileName] = []

    /// The number of ignored names; if a scan found more than `nameLimit`, the number it found.
    var count: Int { crowdCount ?? told.count }

    /// When to check the next name; `nil` if there is none.
    var deadline: Moment? { fresh.first?.moment }

    mutating func beginScan() {
        (listed, listedCount) = ([], 0)
    }

    mutating func listed(_ name: FileName, at now: Moment) {
        listedCount += 1
        seen(name, at: now)
        if listed.count < Self.nameLimit || known.contains(name) { listed.insert(name) }
    }

    mutating func endScan() {
        let settled = listed.intersection(known)
        news += settled.subtracting(told).sorted()
        told = settled.union(told.intersection(listed))
        crowdCount = listedCount > Self.nameLimit ? listedCount : nil
        known = listed
    }

    /// Records that a name was seen.
    mutating func seen(_ name: FileName, at now: Moment) {
        guard fresh.count < Self.nameLimit, told.count < Self.nameLimit, !told.contains(name),
            freshNames.insert(name).inserted
        else { return }
        fresh.append((name, now + Self.grace))
    }

    /// Removes and returns the names to check: `confirm` those that are still there.
    mutating func takeDue(at now: Moment) -> [FileName] {
        let count = fresh.prefix { $0.moment <= now }.count
        defer { fresh.removeFirst(count) }
        let names = fresh.prefix(count).map(\.name)
        freshNames.subtract(names)
        return names.filter { !told.contains($0) }
    }

    /// Records that a name has stayed.
    mutating func confirm(_ name: FileName) {
        if told.insert(name).inserted { news.append(name) }
    }

    /// Returns the ignored names that have not been reported yet, and marks them as reported.
    mutating func takeNews() -> [FileName] {
        defer { news = [] }
        return news
    }
}

extension FileName {
    /// Whether a producer may have meant this as a job's name, which it is not: not hidden, and not an editor's backup.
    package var mayBeMistaken: Bool { !isJob && bytes.first != UInt8(ascii: ".") && bytes.last != UInt8(ascii: "~") }

    /// The remedy for a file with this name that should be sent.
    package var remedy: String {
        if jobOfResult != nil { return "remove it: it is the result file of a job, not a job" }
        if isRest { return "remove it, or move it back next to its job in hold/" }
        let ending = String(decoding: ending, as: UTF8.self)
        if Self.packedEndings.contains(ending.lowercased()) { return "unpack it, and give it a job's file name" }
        if ending != ending.lowercased(), let lower = FileName(bytes: stem + Array(ending.lowercased().utf8)),
            lower.isJob
        {
            return "rename it to \(lower): the extension must be lower case"
        }
        return "rename it so that it ends in .json, .yaml, .yml or .jsonl, or remove it"
    }

    private static let packedEndings: Set<String> = [".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz", ".7z"]
}
