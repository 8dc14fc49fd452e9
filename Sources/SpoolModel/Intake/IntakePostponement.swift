import APNSModel

/// What is kept of a file that was read and is left alone until its time comes.
struct IntakePostponement: Hashable, Sendable {
    /// When its time comes; `nil`: when it is asked for by name.
    let until: WallTime?
    /// Whether it appeared under its name in one step.
    let isPublishedByRename: Bool
    /// Its place in the order: the filesystem's time of its last change when it was first seen.
    let order: WallTime
    /// That time when it was last seen.
    let changedAt: WallTime
    /// Tells it from another file of its name.
    let inode: UInt64
    /// Stands for its bytes, as far as `lstat` tells of them.
    let mark: Int

    init(_ sighting: IntakeSighting, of entry: IntakeEntry, until: WallTime?) {
        self.until = until
        isPublishedByRename = entry.isPublishedByRename
        order = entry.order ?? sighting.identity.changedAt
        changedAt = sighting.identity.changedAt
        inode = sighting.identity.inode
        mark = sighting.mark
    }

    /// Whether what is seen now is the file, and nothing about it has changed.
    func isOf(_ sighting: IntakeSighting) -> Bool {
        sighting.mark == mark && sighting.identity.changedAt == changedAt
    }
}

extension IntakeSighting {
    /// A number that is another one, but for one time in 2⁶⁴, where the file is another or was written to.
    var mark: Int {
        var hasher = Hasher()
        hasher.combine(identity.device)
        hasher.combine(identity.inode)
        hasher.combine(kind)
        hasher.combine(byteCount)
        hasher.combine(modifiedAt)
        return hasher.finalize()
    }
}

/// The files that are left alone until their times come, by name: about 100 bytes each besides the name, as many as
/// there is room for.
///
/// Names lie end to end in one array, records in another, with an index of four bytes a place by the names' hashes.
struct IntakePostponements: Sendable {
    private struct Record: Sendable {
        let postponement: IntakePostponement
        /// Where the name begins, and how long it is; 0 if the file is not left alone any more.
        let nameStart: UInt32
        var nameCount: UInt8
        /// The last scan that listed it, the last bits of its number.
        var scan: UInt16
    }

    private struct Turn: Comparable, Sendable {
        let until: WallTime
        let number: UInt32

        static func < (left: Turn, right: Turn) -> Bool { left.until < right.until }
    }

    /// What a record, its place in the order of times and its places in the index take, about.
    private static let recordByteCount = 100

    private let byteLimit: Int
    private var names: [UInt8] = []
    private var records: [Record] = []
    /// Which record a name has, counted from 1, at the place that its hash asks for or the next that was free; 0 is free.
    private var index: [UInt32] = []
    private var turns = Heap<Turn>()
    private var liveNameByteCount = 0
    /// Which records are looked at in the present scan.
    private var round = 0..<0
    /// How many files are left alone.
    private(set) var count = 0

    /// Creates an empty store.
    ///
    /// - Parameter byteLimit: How many bytes all of it may take, about; at most 1 GiB.
    init(byteLimit: Int) {
        precondition(byteLimit <= 1 << 30, "places in the names have 32 bits")
        self.byteLimit = byteLimit
    }

    /// Whether no file is left alone.
    var isEmpty: Bool { count == 0 }

    /// Adds a file that is not in it.
    ///
    /// - Returns: Whether there was room for it.
    mutating func insert(_ name: FileName, _ postponement: IntakePostponement, scan: UInt64) -> Bool {
        let byteCount = liveNameByteCount + name.bytes.count + (count + 1) * Self.recordByteCount
        guard byteCount <= byteLimit else { return false }
        makeRoom()
        let number = records.count
        records.append(
            Record(
                postponement: postponement, nameStart: UInt32(names.count), nameCount: UInt8(name.bytes.count),
                scan: UInt16(truncatingIfNeeded: scan)))
        names.append(contentsOf: name.bytes)
        enter(name, number)
        (count, liveNameByteCount) = (count + 1, liveNameByteCount + name.bytes.count)
        return true
    }

    /// Whether a file is left alone.
    func contains(_ name: FileName) -> Bool { number(of: name) != nil }

    /// Removes a file, and returns what was kept of it; `nil` if it is not left alone.
    mutating func remove(_ name: FileName) -> IntakePostponement? {
        guard let number = number(of: name) else { return nil }
        let postponement = records[number].postponement
        forget(number)
        return postponement
    }

    /// When the time of the first file comes.
    var firstTime: WallTime? {
        mutating get {
            while let turn = turns.first, records[Int(turn.number)].nameCount == 0 { _ = turns.popFirst() }
            return turns.first?.until
        }
    }

    /// Removes a file whose time has come, the first of them, and returns it.
    mutating func popFirst(at time: WallTime) -> (name: FileName, postponement: IntakePostponement)? {
        guard let first = firstTime, first <= time, let turn = turns.popFirst() else { return nil }
        let number = Int(turn.number)
        let (name, postponement) = (name(of: number), records[number].postponement)
        forget(number)
        return (name, postponement)
    }

    // MARK: Scans

    /// Begins a scan, in which so many files are to be looked at, others with each.
    mutating func beginScan(looks: Int) {
        let start = round.upperBound < records.count ? round.upperBound : 0
        round = start..<min(start + looks, records.count)
    }

    /// Takes note that a scan lists a file.
    ///
    /// - Returns: Whether it is to be looked at; `nil` if it is not left alone.
    mutating func noteListed(_ name: FileName, scan: UInt64) -> Bool? {
        guard let number = number(of: name) else { return nil }
        records[number].scan = UInt16(truncatingIfNeeded: scan)
        return round.contains(number)
    }

    /// Removes what a scan did not list. Costs O(*n*).
    mutating func endScan(_ scan: UInt64) {
        let scan = UInt16(truncatingIfNeeded: scan)
        for number in records.indices where records[number].nameCount > 0 && records[number].scan != scan {
            forget(number)
            if isEmpty { return }
        }
    }

    // MARK: Records and their index

    private func name(of number: Int) -> FileName {
        let record = records[number]
        let start = Int(record.nameStart)
        return FileName(checked: Array(names[start..<start + Int(record.nameCount)]))
    }

    private func number(of name: FileName) -> Int? {
        guard !isEmpty else { return nil }
        var place = place(of: name)
        while index[place] != 0 {
            let number = Int(index[place]) - 1
            if isName(name, of: records[number]) { return number }
            place = (place + 1) & (index.count - 1)
        }
        return nil
    }

    private func isName(_ name: FileName, of record: Record) -> Bool {
        let (start, count) = (Int(record.nameStart), name.bytes.count)
        return Int(record.nameCount) == count && names[start..<start + count].elementsEqual(name.bytes)
    }

    private func place(of name: FileName) -> Int {
        name.hashValue & (index.count - 1)
    }

    private mutating func enter(_ name: FileName, _ number: Int) {
        var place = place(of: name)
        while index[place] != 0 { place = (place + 1) & (index.count - 1) }
        index[place] = UInt32(number + 1)
        if let until = records[number].postponement.until { turns.insert(Turn(until: until, number: UInt32(number))) }
    }

    private mutating func forget(_ number: Int) {
        liveNameByteCount -= Int(records[number].nameCount)
        records[number].nameCount = 0
        count -= 1
        if isEmpty { self = IntakePostponements(byteLimit: byteLimit) }
    }

    /// Sees to it that another file can be entered, at a cost that is O(1) on average.
    private mutating func makeRoom() {
        guard (records.count + 1) * 4 > index.count * 3 else { return }
        let kept = records.indices.filter { records[$0].nameCount > 0 }.map { (name(of: $0), records[$0]) }
        var placeCount = 1_024
        while placeCount < 2 * (kept.count + 1) { placeCount *= 2 }
        (names, records, turns, round) = ([], [], Heap<Turn>(), 0..<0)
        index = Array(repeating: 0, count: placeCount)
        for (name, record) in kept {
            records.append(
                Record(
                    postponement: record.postponement, nameStart: UInt32(names.count), nameCount: record.nameCount,
                    scan: record.scan))
            names.append(contentsOf: name.bytes)
            enter(name, records.count - 1)
        }
    }
}
