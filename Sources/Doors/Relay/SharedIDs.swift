import DoorModel
import LinuxIO
import PushModel

/// The ids of the requests to one app that the doors of a cluster's spool write: hidden files in the app's `tmp/`, where every
/// door may write, each with one writer. Calls block.
///
/// A door holds the lock on the file that it writes, so that the others see when it has died.
final class SharedIDs {
    private let folder: Directory
    private let own: IDLog
    private let door: String
    private let lifetime: Duration
    private var peers: PeerIDs
    private var files: [[UInt8]: PeerFile] = [:]
    /// Records of what was written that could not be appended, and that the next append begins with.
    private var owed: [UInt8] = []

    /// A file of another door.
    private struct PeerFile {
        var offset: Int64 = 0
        /// Whether its door writes it no more, and all of it was read.
        var isOver = false
    }

    private static let prefix = ".pushspool-ids."
    private static let pieceByteCount = 1 << 20

    /// Opens the ids of an app, of which nothing is read yet.
    ///
    /// - Parameters:
    ///   - tmp: The app's `tmp/`.
    ///   - lifetime: How long an id is of interest.
    /// - Throws: `SystemError`: the folder cannot be written.
    init(in tmp: Directory, lifetime: Duration) throws(SystemError) {
        (folder, self.lifetime) = (tmp, lifetime)
        door = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        own = try IDLog.begin(in: tmp, named: "\(Self.prefix)\(door).", lifetime: lifetime)
        peers = PeerIDs(lifetime: lifetime)
    }

    /// Whether other doors can still see what this one logs.
    ///
    /// - Throws: `SystemError`: for example EIO.
    var isThere: Bool { get throws(SystemError) { try own.isThere } }

    /// Claims ids for requests that are to be written, unless another door writes them or has written them. Something must
    /// have been created in the folder just before: so a client of NFS sees the files of doors that are new.
    ///
    /// - Returns: What the other doors say of each id. Those that are free are claimed now: `conclude` must follow.
    /// - Throws: `SystemError`: nothing may be written, since others may write the same.
    func claim(_ keys: [RecentIDs.Key], at now: WallTime) throws(SystemError) -> [RecentIDs.Key: PeerIDs.Standing] {
        var found: [RecentIDs.Key: PeerIDs.Standing] = [:]
        do throws(SystemError) {
            try own.append(owed + Self.records(keys, RecentIDs.Key.claimed))
            owed = []
            try own.secure()
            try readNews(at: now)
            for key in keys { found[key] = peers.standing(of: key, at: now) }
            try withdraw(keys.filter { found[$0] != .free })
        } catch {
            try withdraw(keys)
            throw error
        }
        return found
    }

    /// Withdraws claims. If that fails, the next claim begins another file, and all in this one are dropped.
    ///
    /// - Throws: `SystemError`: until then, other doors do not write these ids.
    func withdraw(_ keys: [RecentIDs.Key]) throws(SystemError) {
        try own.append(Self.records(keys, RecentIDs.Key.withdrawn), mayBeginFile: false)
    }

    /// Records when the requests of ids that were claimed were written, or that they may come again.
    ///
    /// - Throws: `SystemError`: while this door runs, other doors do not write these ids.
    func conclude(_ keys: [RecentIDs.Key], _ time: WallTime) throws(SystemError) {
        owed += Self.records(keys, time)
        try own.append(owed, mayBeginFile: false)
        owed = []
        try own.secure()
    }

    private static func records(_ keys: [RecentIDs.Key], _ time: WallTime) -> [UInt8] {
        var records: [UInt8] = []
        for key in keys { key.appendRecord(at: time, to: &records) }
        return records
    }

    // MARK: Other doors

    private func readNews(at now: WallTime) throws(SystemError) {
        peers.forget(at: now)
        var found: [(door: String, number: Int, name: [UInt8])] = []
        for name in try folder.names() {
            guard let (door, number) = Self.parts(of: name), door != self.door, files[name]?.isOver != true else {
                continue
            }
            found.append((door, number, name))
        }
        for file in found.sorted(by: { ($0.door, $0.number) < ($1.door, $1.number) }) {
            do throws(SystemError) {
                try read(file.name, (file.door, file.number), at: now)
            } catch {
                // It was removed because its time is over.
                guard error.isNotFound || error.isStale else { throw error }
                files[file.name] = nil
            }
        }
    }

    private func read(_ name: [UInt8], _ place: (door: String, number: Int), at now: WallTime) throws(SystemError) {
        let file = try folder.openRegular(name)
        // Before the rest is read: what its door has written until it died counts.
        let isOver = try !file.isLockedElsewhere()
        var state = files[name] ?? PeerFile()
        if isOver, state.offset == 0 {
            let writtenAt = WallTime(nanoseconds: try file.status().modifiedAt)
            if now - writtenAt >= lifetime { return remove(name) }
        }
        while true {
            var piece: [UInt8] = []
            _ = try file.read(Self.pieceByteCount, at: state.offset, appendingTo: &piece)
            // A record may be cut off by a death, or be on its way.
            let whole = piece.count - piece.count % RecentIDs.Key.recordByteCount
            guard whole > 0 else { break }
            peers.apply(piece[..<whole], from: place.door, file: place.number)
            state.offset += Int64(whole)
        }
        if isOver { peers.dropClaims(of: place.door, file: place.number) }
        state.isOver = isOver
        files[name] = state
    }

    /// Removes a file whose ids are all too old. Another user's stays: `tmp/` is sticky.
    private func remove(_ name: [UInt8]) {
        _ = try? folder.unlink(name)
        files[name] = PeerFile(isOver: true)
    }

    /// Returns the door and the number in the name of a file of ids; `nil` for other names.
    private static func parts(of name: [UInt8]) -> (door: String, number: Int)? {
        let text = String(decoding: name, as: UTF8.self)
        guard text.hasPrefix(prefix) else { return nil }
        let parts = text.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[1]) else { return nil }
        return (String(parts[0]), number)
    }
}
