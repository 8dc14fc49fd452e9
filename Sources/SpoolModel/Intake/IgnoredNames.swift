package import JobFormat

/// The names in `new/` that cannot be jobs and stay there, and which of them have not been reported yet.
///
/// A name found by two complete scans in a row counts as ignored; a producer may still rename a file that one scan
/// found. Only the first `nameLimit` names are stored, and the others counted: a producer may drop any number of files.
struct IgnoredNames: Sendable {
    /// The most names stored.
    static let nameLimit = 1_000

    /// The names found by the current scan, those of the last complete scan, and those already reported.
    private var listed: Set<FileName> = []
    private var known: Set<FileName> = []
    private var told: Set<FileName> = []
    private var listedCount = 0
    /// The number of ignored names; if a scan found more than `nameLimit`, the number it found.
    private(set) var count = 0
    /// Ignored names that have not been reported yet.
    private var news: [FileName] = []

    mutating func beginScan() {
        (listed, listedCount) = ([], 0)
    }

    mutating func listed(_ name: FileName) {
        listedCount += 1
        if listed.count < Self.nameLimit || known.contains(name) { listed.insert(name) }
    }

    mutating func endScan() {
        let settled = listed.intersection(known)
        news += settled.subtracting(told).sorted()
        told = settled
        count = listedCount > Self.nameLimit ? listedCount : settled.count
        known = listed
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
