import JobFormat

/// Names that wait for the intake's attention, in order of arrival, each once.
///
/// Names are stored end to end in one array, with an index of four bytes per slot: a million names of 30 bytes take 40
/// MiB, a tenth of the memory for files that have attention.
struct IntakeBacklog: Sendable {
    /// The latest news about a waiting name.
    enum News: UInt8, Sendable {
        /// The file exists.
        case present
        /// The file appeared in one step (a rename), and no change has been reported since.
        case publishedByRename
        /// The file is gone. The name keeps its place, since a file may reappear under it.
        case gone
    }

    private let byteLimit: Int
    /// One record per name, from `head` on: the news, the name's length, the name.
    private var records: [UInt8] = []
    private var head = 0
    /// For each hash slot, the offset of a record plus one, or 0 if free; collisions go to the next free slot. Records
    /// before `head` keep their slots until the index is rebuilt.
    private var index: [UInt32] = []
    private var usedCount = 0
    /// The number of waiting names, including those whose file is gone.
    private(set) var count = 0

    /// Creates an empty backlog.
    ///
    /// - Parameter byteLimit: The most bytes of all names together, plus two bytes per name.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Whether no name waits.
    var isEmpty: Bool { head == records.count }

    /// Adds a name that does not wait yet.
    ///
    /// - Returns: Whether there was room for it.
    mutating func append(_ name: FileName, _ news: News) -> Bool {
        let byteCount = 2 + name.bytes.count
        guard records.count - head + byteCount <= byteLimit else { return false }
        makeRoom()
        let start = records.count
        records.append(news.rawValue)
        records.append(UInt8(name.bytes.count))
        records.append(contentsOf: name.bytes)
        enter(name, start)
        count += 1
        return true
    }

    /// Records news about a name.
    ///
    /// - Returns: Whether the name waits; if not, nothing is recorded.
    mutating func note(_ news: News, of name: FileName) -> Bool {
        guard let start = start(of: name) else { return false }
        records[start] = news.rawValue
        return true
    }

    /// Records that a scan listed a name. A listing does not show how the file was published.
    ///
    /// - Returns: Whether the name waits; if not, nothing is recorded.
    mutating func noteListed(_ name: FileName) -> Bool {
        guard let start = start(of: name) else { return false }
        if records[start] == News.gone.rawValue { records[start] = News.present.rawValue }
        return true
    }

    /// Removes the name that has waited longest, and returns it and whether a rename published it. Skips names whose
    /// file is gone. Costs O(1) on average.
    mutating func popFirst() -> (name: FileName, isPublishedByRename: Bool)? {
        while !isEmpty {
            let (news, name) = (records[head], name(at: head))
            head += 2 + name.bytes.count
            count -= 1
            if isEmpty { self = IntakeBacklog(byteLimit: byteLimit) }
            if news != News.gone.rawValue { return (name, news == News.publishedByRename.rawValue) }
        }
        return nil
    }

    // MARK: Records and their index

    private func name(at start: Int) -> FileName {
        let first = start + 2
        return FileName(checked: Array(records[first..<first + Int(records[start + 1])]))
    }

    private func start(of name: FileName) -> Int? {
        guard !index.isEmpty else { return nil }
        var place = place(of: name)
        while index[place] != 0 {
            let start = Int(index[place]) - 1
            if start >= head, isName(name, at: start) { return start }
            place = (place + 1) & (index.count - 1)
        }
        return nil
    }

    private func isName(_ name: FileName, at start: Int) -> Bool {
        let (first, count) = (start + 2, name.bytes.count)
        return Int(records[start + 1]) == count && records[first..<first + count].elementsEqual(name.bytes)
    }

    private func place(of name: FileName) -> Int {
        name.hashValue & (index.count - 1)
    }

    private mutating func enter(_ name: FileName, _ start: Int) {
        var place = place(of: name)
        while index[place] != 0 { place = (place + 1) & (index.count - 1) }
        index[place] = UInt32(start + 1)
        usedCount += 1
    }

    /// Makes room for another name, at an average cost of O(1).
    private mutating func makeRoom() {
        let isMostlyPast = head > 65_536 && head > records.count / 2
        guard isMostlyPast || (usedCount + 1) * 4 > index.count * 3 else { return }
        records.removeFirst(head)
        head = 0
        var starts: [Int] = []
        var start = 0
        while start < records.count {
            starts.append(start)
            start += 2 + Int(records[start + 1])
        }
        var placeCount = 1_024
        while placeCount < 2 * (starts.count + 1) { placeCount *= 2 }
        (index, usedCount) = (Array(repeating: 0, count: placeCount), 0)
        for start in starts { enter(name(at: start), start) }
    }
}
