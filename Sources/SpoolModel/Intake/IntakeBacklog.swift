/// Names that wait until the intake attends to them, in the order in which they came, each once.
///
/// They lie end to end in one array, with an index of four bytes a place: a million names of 30 bytes take 40 MiB, where all
/// that is known of a file that is attended to takes ten times as much.
struct IntakeBacklog: Sendable {
    /// What is known of a name that waits.
    enum News: UInt8, Sendable {
        /// It was there.
        case present
        /// It appeared in one step, and nobody said since that it changed.
        case publishedByRename
        /// It is gone. Its place is kept: a file may come back under its name.
        case gone
    }

    private let byteLimit: Int
    /// A record a name, from `head` on: what is known, how long the name is, the name.
    private var records: [UInt8] = []
    private var head = 0
    /// Where the record of a name begins, counted from 1, at the place that its hash asks for or the next that was free; 0
    /// is free. Records before `head` keep their places until the index is made anew.
    private var index: [UInt32] = []
    private var usedCount = 0
    /// How many names wait, those of files among them that went while they did.
    private(set) var count = 0

    /// Creates an empty backlog.
    ///
    /// - Parameter byteLimit: How long the names may be together, two bytes each included.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Whether none waits.
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

    /// Takes note of news of a name.
    ///
    /// - Returns: Whether it waits; otherwise nothing is noted.
    mutating func note(_ news: News, of name: FileName) -> Bool {
        guard let start = start(of: name) else { return false }
        records[start] = news.rawValue
        return true
    }

    /// Takes note that a name was listed, which says nothing of how it came.
    ///
    /// - Returns: Whether it waits; otherwise nothing is noted.
    mutating func noteListed(_ name: FileName) -> Bool {
        guard let start = start(of: name) else { return false }
        if records[start] == News.gone.rawValue { records[start] = News.present.rawValue }
        return true
    }

    /// Removes the name that has waited longest, and returns it and whether it was published by a rename. Names that are
    /// gone are passed over. Costs O(1) on average.
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

    /// Sees to it that another name can be entered, at a cost that is O(1) on average.
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
