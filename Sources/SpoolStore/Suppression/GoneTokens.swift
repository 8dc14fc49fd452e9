package import LinuxIO
package import PushModel
import SpoolModel

/// The tokens of an app that the gateway has reported gone, kept in `gone/<app>.gone` in the daemon's state folder.
///
/// Written records survive the process, synced ones a power loss. A token whose record is lost is sent to, and reported
/// gone, again. An address counts as gone only if the file contains its kind and bytes. Owned by one actor; calls block.
package final class GoneTokens {
    /// How many stale records trigger a rewrite of the log even if few tokens are gone.
    private static let staleLimit = 4096
    private static let folderName = Array("gone".utf8)

    /// How many unusable bytes followed the last record; `nil` until the log has been read.
    package private(set) var uselessByteCount: Int?

    private let folder: Directory
    private let name: [UInt8]
    private let temporaryName: [UInt8]
    private var table: GoneTable
    /// The log that will replace this one, and how far this one has been copied.
    private var rewriting: (table: GoneTable, offset: Int)?
    /// How many records there must be before the rewrite is tried again.
    private var rewriteFloor = 0
    private var isDirty = false
    /// The logs of the other nodes of a cluster, by node.
    private var followers: [String: GoneFollower] = [:]
    /// When tokens were registered again that others had reported gone, in a cluster. Without it, nodes that read each
    /// other's logs from the start would take up, and so pass on, what is long settled.
    private var registered: [Address: WallTime] = [:]

    /// Opens or creates the log of an app. Read it with `readOn` before any other call.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - state: The daemon's state folder.
    /// - Throws: `SystemError`: it cannot be opened or created. Report it and continue without the log.
    package init(of app: String, in state: Directory) throws(SystemError) {
        folder = try state.makeChild(Self.folderName, mode: 0o700)
        name = Array("\(app).gone".utf8)
        temporaryName = Array(".\(app).gone".utf8)
        try folder.unlink(temporaryName)
        table = try GoneTable(try folder.openForWriting(name, mode: 0o600))
        try folder.sync(.state)
    }

    /// Reads the next part of the log.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: for example EIO. Report it and continue without the log.
    package func readOn() throws(SystemError) -> Bool {
        guard uselessByteCount == nil else { return false }
        uselessByteCount = try table.readOn()
        return uselessByteCount == nil
    }

    /// How many tokens are gone.
    package var count: Int { table.count }

    /// Returns since when an address has been gone, so that it is not sent to.
    ///
    /// Forgets an address that was registered later.
    ///
    /// - Parameters:
    ///   - kind: The kind of the address.
    ///   - bytes: The bytes of the address.
    ///   - registeredAt: When it was registered, if known.
    /// - Returns: `nil` if the address may be sent to.
    /// - Throws: `SystemError`: the log cannot be read or written. Send to the address.
    package func goneSince(
        _ kind: Address.Kind, _ bytes: ArraySlice<UInt8>, registeredAt: WallTime?
    ) throws(SystemError) -> WallTime? {
        guard let since = try table.goneSince(kind, bytes) else { return nil }
        guard let registeredAt, registeredAt > since else { return since }
        let address = Address(kind, bytes)
        if !followers.isEmpty { registered[address] = registeredAt }
        try add(GoneRecord(.registered, address, at: registeredAt))
        return nil
    }

    /// Records that an address is gone.
    ///
    /// - Throws: `SystemError`: the log cannot be read or written, and the address is not recorded.
    package func remember(_ address: Address, goneSince time: WallTime) throws(SystemError) {
        try add(GoneRecord(.gone, address, at: time))
    }

    /// Adds what the other nodes of a cluster have recorded since: then this log alone decides.
    ///
    /// - Parameter spool: The spool.
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: a log cannot be read or written. Try again later.
    package func readNews(in spool: Spool) throws(SystemError) -> Bool {
        let known = Set(followers.keys).union([spool.node])
        for peer in try PeerFolder.all(inRoot: spool.root, besides: known) {
            guard let folder = try peer.state(named: Self.folderName) else { continue }
            followers[peer.node] = GoneFollower(name, in: folder)
        }
        var hasMore = false
        for (node, follower) in followers {
            do throws(SystemError) {
                if try follower.readOn({ (record) throws(SystemError) in try apply(record) }) { hasMore = true }
            } catch {
                // Operators remove the folder of a node that they have taken out of service.
                guard error.isStale else { throw error }
                followers[node] = nil
            }
        }
        return hasMore
    }

    private func apply(_ record: GoneRecord) throws(SystemError) {
        let address = record.address
        switch record.kind {
        case .gone:
            if let known = registered[address], known >= record.time { return }
        case .registered:
            registered[address] = max(registered[address] ?? record.time, record.time)
            // An address that was registered again is sent to, unless it became invalid after that.
            guard let since = try table.goneSince(address.kind, address.bytes[...]), since < record.time else { return }
        }
        try add(record)
    }

    private func add(_ record: GoneRecord?) throws(SystemError) {
        guard let record else { return }
        isDirty = true
        try table.add(record)
    }

    /// Writes the waiting records, so that they survive the death of the process.
    ///
    /// - Throws: `SystemError`: for example ENOSPC. Waiting records of gone tokens are forgotten. Call again to write
    ///   those of tokens that were registered again.
    package func write() throws(SystemError) {
        guard table.log.isPending else { return }
        isDirty = true
        try table.write()
    }

    /// Returns the file to sync, if anything was written since the last call.
    package func takeUnsynced() -> GoneFile? {
        defer { isDirty = false }
        return isDirty ? table.log.file : nil
    }

    // MARK: Rewriting

    /// Whether `rewriteOn` should be called: most of the log is stale, or a rewrite is under way.
    package var wantsRewriting: Bool {
        rewriting != nil
            || table.recordCount > max(rewriteFloor, 2 * table.count + Self.staleLimit) && uselessByteCount != nil
    }

    /// Continues to rewrite the log without its stale records. Records added meanwhile go into both logs.
    ///
    /// - Throws: `SystemError`: for example ENOSPC. The log is unchanged, and the rewrite is tried again once it has
    ///   twice as many records.
    package func rewriteOn() throws(SystemError) {
        do {
            try goOn()
        } catch {
            rewriting = nil
            rewriteFloor = 2 * table.recordCount
            throw error
        }
    }

    private func goOn() throws(SystemError) {
        if rewriting == nil { rewriting = try begin() }
        guard let (new, offset) = rewriting else { return }
        try write()
        let next = try table.log.read(from: offset) { (found) throws(SystemError) in
            // A copied record that has changed since appears again later in the log.
            if found.record.kind == .registered || table.isCurrent(found) { try new.add(found.record) }
        }
        try new.write()
        try new.log.file.sync()
        rewriting = (new, next)
        guard next >= table.log.end else { return }
        try folder.rename(temporaryName, to: folder, replacing: name)
        try folder.sync(.state)
        (table, rewriting) = (new, nil)
    }

    private func begin() throws(SystemError) -> (table: GoneTable, offset: Int) {
        try folder.unlink(temporaryName)
        let new = try GoneTable(try folder.create(temporaryName, mode: 0o600))
        return (new, GoneRecord.head.count)
    }
}
