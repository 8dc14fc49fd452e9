/// The names in `new/` that no job has and that stay there: which there are, and which of them are news.
///
/// A name that one whole scan finds and the next one still does is ignored for good, not on its way to a job's name.
/// Of a crowd only the first are known by name, the rest is counted: anybody may drop any number.
struct IgnoredNames: Sendable {
    /// How many are known by name.
    static let nameLimit = 1_000

    /// Those of the scan under way, those of the last whole one, and those that were told.
    private var listed: Set<FileName> = []
    private var known: Set<FileName> = []
    private var told: Set<FileName> = []
    private var listedCount = 0
    /// How many are ignored for good; of a crowd, how many there are in all.
    private(set) var count = 0
    /// Those that are ignored for good, and were not told yet.
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

    /// Those that are ignored for good and were not told before.
    mutating func takeNews() -> [FileName] {
        defer { news = [] }
        return news
    }
}

extension FileName {
    /// Whether somebody may have meant a job by a name that is none: it is not hidden, and no editor's copy.
    package var mayBeMistaken: Bool { !isJob && bytes.first != UInt8(ascii: ".") && bytes.last != UInt8(ascii: "~") }

    /// What can be done so that a file with such a name is sent.
    package var remedy: String {
        if jobOfResult != nil { return "remove it: it says what became of a job, and is none" }
        if isRest { return "remove it, or move it back beside its job in hold/" }
        let ending = String(decoding: ending, as: UTF8.self)
        if Self.packedEndings.contains(ending.lowercased()) { return "unpack it under a job's name" }
        if ending != ending.lowercased(), let lower = FileName(bytes: stem + Array(ending.lowercased().utf8)),
            lower.isJob
        {
            return "rename it to \(lower): a job's ending is lower case"
        }
        return "rename it so that it ends in .json, .yaml, .yml or .jsonl, or remove it"
    }

    private static let packedEndings: Set<String> = [".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz", ".7z"]
}
