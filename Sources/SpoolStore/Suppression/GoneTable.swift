import LinuxIO
import PushModel
import SpoolModel

/// A log of gone tokens together with its index.
final class GoneTable {
    let log: GoneLog
    private var index = GoneIndex()
    /// How many records the log has. Those beyond the tokens in the index are stale.
    private(set) var recordCount = 0

    /// Takes over a file. Read it with `readOn` before any other call.
    ///
    /// - Throws: `SystemError`: it cannot be read or written.
    init(_ file: consuming OpenFile) throws(SystemError) {
        log = try GoneLog(file)
    }

    /// How many tokens are gone.
    var count: Int { index.count }

    /// Reads the next part of the log.
    ///
    /// - Returns: as `GoneLog.readOn`.
    /// - Throws: `SystemError`: for example EIO.
    func readOn() throws(SystemError) -> Int? {
        try log.readOn { (found) throws(SystemError) in try enter(found) }
    }

    /// Returns since when an address has been gone; `nil` if it is not gone.
    ///
    /// - Throws: `SystemError`: the log cannot be read.
    func goneSince(_ kind: Address.Kind, _ bytes: ArraySlice<UInt8>) throws(SystemError) -> WallTime? {
        try find(kind, bytes, GoneIndex.hash(of: kind, bytes))?.record.time
    }

    /// Adds a record about a token, unless it contains nothing new.
    ///
    /// - Throws: `SystemError`: the log cannot be read or written.
    func add(_ record: GoneRecord) throws(SystemError) {
        let known = try goneSince(record.address.kind, record.address.bytes[...])
        switch record.kind {
        case .gone: if let known, known >= record.time { return }
        case .registered: if known == nil { return }
        }
        guard let place = log.append(record) else { return }
        try enter(GoneLog.Found(record: record, place: place))
        if log.isFull { try write() }
    }

    /// Whether a record is the current one of its token.
    func isCurrent(_ found: GoneLog.Found) -> Bool {
        found.record.kind == .gone && index.contains(found.record.address.goneHash, at: found.place)
    }

    /// Writes the waiting records. Gone tokens that cannot be written are forgotten.
    ///
    /// - Throws: `SystemError`: for example ENOSPC.
    func write() throws(SystemError) {
        try log.write { found in
            index.remove(found.record.address.goneHash, at: found.place)
            recordCount -= 1
        }
    }

    private func enter(_ found: GoneLog.Found) throws(SystemError) {
        let (address, hash) = (found.record.address, found.record.address.goneHash)
        let known = try find(address.kind, address.bytes[...], hash)
        recordCount += 1
        switch (found.record.kind, known) {
        case (.gone, let known?): index.move(hash, from: known.place, to: found.place)
        case (.gone, nil): index.insert(hash, at: found.place)
        case (.registered, let known?): index.remove(hash, at: known.place)
        case (.registered, nil): break
        }
    }

    private func find(
        _ kind: Address.Kind, _ bytes: ArraySlice<UInt8>, _ hash: UInt32
    ) throws(SystemError) -> GoneLog.Found? {
        var found: GoneLog.Found?
        _ = try index.place(of: hash) { (place) throws(SystemError) in
            guard let record = try log.record(at: place, ofAddressOf: bytes.count), record.address.kind == kind,
                record.address.bytes.elementsEqual(bytes)
            else { return false }
            found = GoneLog.Found(record: record, place: place)
            return true
        }
        return found
    }
}

extension Address {
    /// Its hash in a `GoneIndex`.
    fileprivate var goneHash: UInt32 { GoneIndex.hash(of: kind, bytes[...]) }
}
