import JobFormat

/// Names that wait for the intake's attention, in order of arrival, each once.
///
/// Names are stored end to end in pieces, with an index of four bytes per slot: a million names of 30 bytes take 40 MiB, a
/// tenth of the memory for files that have attention. A piece is freed when its last name leaves.
struct IntakeBacklog: Sendable {
    /// The latest news about a waiting name.
    enum News: UInt8, Sendable {
        /// The file exists.
        case present
        /// The file appeared in one step (a rename), and no change has been reported since.
        case publishedByRename
        /// The file is gone. The name keeps its place, since a file may reappear under it.
        case gone

        init(_ hint: IntakeHint) {
            self =
                switch hint {
                case .movedIn: .publishedByRename
                case .created, .modified, .closedAfterWrite: .present
                case .goneAway: .gone
                }
        }
    }

    /// Where a record is: the number of its piece, and the offset in it.
    private struct Place {
        let number: Int
        let offset: Int

        /// How the index spells it; 0 is a free slot.
        var slot: UInt32 { UInt32(number << 16 | offset) + 1 }

        init(_ number: Int, _ offset: Int) { (self.number, self.offset) = (number, offset) }

        init(slot: UInt32) { self.init(Int(slot - 1) >> 16, Int(slot - 1) & 0xFFFF) }
    }

    private static let pieceByteCount = 1 << 16

    private let byteLimit: Int
    /// One record per name: the news, the name's length, the name. No record continues in the next piece.
    private var pieces: [[UInt8]] = []
    /// The place of the first record, in the first piece.
    private var head = Place(0, 0)
    private var byteCount = 0
    /// For each hash slot, the place of a record, or 0 if free; collisions go to the next free slot. Records before `head`
    /// keep their slots until the index is rebuilt.
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
    var isEmpty: Bool { count == 0 }

    /// Whether a name is in it.
    func contains(_ name: FileName) -> Bool { place(of: name) != nil }

    /// Adds a name that does not wait yet.
    ///
    /// - Returns: Whether there was room for it.
    mutating func append(_ name: FileName, _ news: News) -> Bool {
        let recordByteCount = 2 + name.bytes.count
        guard byteCount + recordByteCount <= byteLimit else { return false }
        makeRoom()
        if (pieces.last?.count ?? Self.pieceByteCount) + recordByteCount > Self.pieceByteCount {
            pieces.append([])
            pieces[pieces.count - 1].reserveCapacity(Self.pieceByteCount)
        }
        let last = pieces.count - 1
        enter(name, Place(head.number + last, pieces[last].count))
        pieces[last].append(news.rawValue)
        pieces[last].append(UInt8(name.bytes.count))
        pieces[last].append(contentsOf: name.bytes)
        byteCount += recordByteCount
        count += 1
        return true
    }

    /// Records news about a name.
    ///
    /// - Returns: Whether the name waits; if not, nothing is recorded.
    mutating func note(_ news: News, of name: FileName) -> Bool {
        guard let place = place(of: name) else { return false }
        pieces[place.number - head.number][place.offset] = news.rawValue
        return true
    }

    /// Records that a scan listed a name. A listing does not show how the file was published.
    ///
    /// - Returns: Whether the name waits; if not, nothing is recorded.
    mutating func noteListed(_ name: FileName) -> Bool {
        guard let place = place(of: name) else { return false }
        let piece = place.number - head.number
        if pieces[piece][place.offset] == News.gone.rawValue { pieces[piece][place.offset] = News.present.rawValue }
        return true
    }

    /// Removes the name that has waited longest, and returns it and whether a rename published it. Skips names whose
    /// file is gone. Costs O(1) on average.
    mutating func popFirst() -> (name: FileName, isPublishedByRename: Bool)? {
        while !isEmpty {
            let (news, name) = (pieces[0][head.offset], name(in: pieces[0], at: head.offset))
            let next = head.offset + 2 + name.bytes.count
            byteCount -= 2 + name.bytes.count
            count -= 1
            if isEmpty {
                self = IntakeBacklog(byteLimit: byteLimit)
            } else if next == pieces[0].count {
                pieces.removeFirst()
                head = Place(head.number + 1, 0)
            } else {
                head = Place(head.number, next)
            }
            if news != News.gone.rawValue { return (name, news == News.publishedByRename.rawValue) }
        }
        return nil
    }

    // MARK: Records and their index

    private func name(in piece: [UInt8], at start: Int) -> FileName {
        let first = start + 2
        return FileName(checked: Array(piece[first..<first + Int(piece[start + 1])]))
    }

    private func place(of name: FileName) -> Place? {
        guard !index.isEmpty else { return nil }
        var slot = slot(of: name)
        while index[slot] != 0 {
            let place = Place(slot: index[slot])
            if (place.number, place.offset) >= (head.number, head.offset), isName(name, at: place) { return place }
            slot = (slot + 1) & (index.count - 1)
        }
        return nil
    }

    private func isName(_ name: FileName, at place: Place) -> Bool {
        let piece = pieces[place.number - head.number]
        let (first, count) = (place.offset + 2, name.bytes.count)
        return Int(piece[place.offset + 1]) == count && piece[first..<first + count].elementsEqual(name.bytes)
    }

    private func slot(of name: FileName) -> Int {
        name.hashValue & (index.count - 1)
    }

    private mutating func enter(_ name: FileName, _ place: Place) {
        var slot = slot(of: name)
        while index[slot] != 0 { slot = (slot + 1) & (index.count - 1) }
        index[slot] = place.slot
        usedCount += 1
    }

    /// Makes room in the index for another name and another piece, at an average cost of O(1).
    private mutating func makeRoom() {
        let hasNumber = head.number + pieces.count < 0xFFFF
        guard !hasNumber || (usedCount + 1) * 4 > index.count * 3 else { return }
        head = Place(0, head.offset)
        var slotCount = 1_024
        while slotCount < 2 * (count + 1) { slotCount *= 2 }
        (index, usedCount) = (Array(repeating: 0, count: slotCount), 0)
        for (number, piece) in pieces.enumerated() {
            var start = number == 0 ? head.offset : 0
            while start < piece.count {
                enter(name(in: piece, at: start), Place(number, start))
                start += 2 + Int(piece[start + 1])
            }
        }
    }
}
