import JobFormat
import PushModel

/// The record of a file that was read and is postponed until its time.
struct IntakePostponement: Hashable, Sendable {
    /// The time; `nil` if the file waits for a `resume` by name.
    let until: WallTime?
    /// Whether the file appeared under its name in one step.
    let isPublishedByRename: Bool
    /// The file's position in the order: its ctime when it was first seen, by the filesystem's clock.
    let order: WallTime
    /// Its ctime when it was last seen.
    let changedAt: WallTime
    /// Distinguishes the file from another of the same name.
    let inode: UInt64
    /// A hash of the attributes that `lstat` returns, in place of the file's content.
    let mark: Int

    init(_ sighting: IntakeSighting, of entry: IntakeEntry, until: WallTime?) {
        self.until = until
        isPublishedByRename = entry.isPublishedByRename
        order = entry.order ?? sighting.identity.changedAt
        changedAt = sighting.identity.changedAt
        inode = sighting.identity.inode
        mark = sighting.mark
    }

    /// Whether a sighting shows this file, unchanged.
    func isOf(_ sighting: IntakeSighting) -> Bool {
        sighting.mark == mark && sighting.identity.changedAt == changedAt
    }
}

extension IntakeSighting {
    /// A hash that changes if the file is replaced or written to, except for one chance in 2⁶⁴.
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

/// The postponed files by name, as many as fit into the memory limit: about 100 bytes each, plus the name.
///
/// Names are stored end to end in one array and records in another, with a hash index of four bytes per slot.
struct IntakePostponements: Sendable {
    private struct Record: Sendable {
        let postponement: IntakePostponement
        /// The offset of the name and its length; a length of 0 marks a removed record.
        let nameStart: UInt32
        var nameCount: UInt8
        /// The low bits of the number of the last scan that listed the file.
        var scan: UInt16
    }

    private struct Turn: Comparable, Sendable {
        let until: WallTime
        let number: UInt32

        static func < (left: Turn, right: Turn) -> Bool { left.until < right.until }
    }

    /// The approximate size of a record, its place in the order of times and its index slots.
    private static let recordByteCount = 100

    private let byteLimit: Int
    private var names: [UInt8] = []
    private var records: [Record] = []
    /// For each hash slot, the number of a record plus one, or 0 if free; collisions go to the next free slot.
    private var index: [UInt32] = []
    private var turns = Heap<Turn>()
    private var liveNameByteCount = 0
    /// The records to look at during the current scan.
    private var round = 0..<0
    /// The number of postponed files.
    private(set) var count = 0

    /// Creates an empty store.
    ///
    /// - Parameter byteLimit: The approximate size of the store in bytes; at most 1 GiB.
    init(byteLimit: Int) {
        precondition(byteLimit <= 1 << 30, "places in the names have 32 bits")
        self.byteLimit = byteLimit
    }

    /// Whether no file is postponed.
    var isEmpty: Bool { count == 0 }

    /// Adds a file that is not in the store.
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

    /// Whether a file is postponed.
    func contains(_ name: FileName) -> Bool { number(of: name) != nil }

    /// Removes a file and returns its record; `nil` if the file is not postponed.
    mutating func remove(_ name: FileName) -> IntakePostponement? {
        guard let number = number(of: name) else { return nil }
        let postponement = records[number].postponement
        forget(number)
        return postponement
    }

    /// The earliest time at which a file is due.
    var firstTime: WallTime? {
        mutating get {
            while let turn = turns.first, records[Int(turn.number)].nameCount == 0 { _ = turns.popFirst() }
            return turns.first?.until
        }
    }

    /// Removes and returns the first file that is due.
    mutating func popFirst(at time: WallTime) -> (name: FileName, postponement: IntakePostponement)? {
        guard let first = firstTime, first <= time, let turn = turns.popFirst() else { return nil }
        let number = Int(turn.number)
        let (name, postponement) = (name(of: number), records[number].postponement)
        forget(number)
        return (name, postponement)
    }

    // MARK: Scans

    /// Begins a scan that looks at the next `looks` files; successive scans take turns.
    mutating func beginScan(looks: Int) {
        let start = round.upperBound < records.count ? round.upperBound : 0
        round = start..<min(start + looks, records.count)
    }

    /// Records that a scan lists a file.
    ///
    /// - Returns: Whether to look at it; `nil` if it is not postponed.
    mutating func noteListed(_ name: FileName, scan: UInt64) -> Bool? {
        guard let number = number(of: name) else { return nil }
        records[number].scan = UInt16(truncatingIfNeeded: scan)
        return round.contains(number)
    }

    /// Removes the files that the scan did not list. Costs O(*n*).
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

    /// Makes room for another file, at an average cost of O(1).
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
