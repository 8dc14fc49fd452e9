package import APNSModel
package import LinuxIO
import SpoolModel

/// The tokens of an app that the gateway has reported gone, kept in `gone/<app>.gone` of the daemon's state.
///
/// What was written outlives the process, what was synced the machine; what a crash takes is sent to again, and reported
/// again. A token counts as gone only if it stands in the file, byte for byte. Owned by one actor; calls block.
package final class GoneTokens {
    /// How many records may say nothing any more before the log is written anew, however few tokens are gone.
    private static let staleLimit = 4096

    /// How many bytes behind the last record were of no use, if the log has been read.
    package private(set) var uselessByteCount: Int?

    private let folder: Directory
    private let name: [UInt8]
    private let temporaryName: [UInt8]
    private var table: GoneTable
    /// The log that takes the place of this one, and how far this one has been gone through for it.
    private var rewriting: (table: GoneTable, offset: Int)?
    /// How many records there must be before that is tried again.
    private var rewriteFloor = 0
    private var isDirty = false

    /// Opens the log of an app, or makes it. It is to be read (`readOn`) before anything else.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - state: The daemon's state folder.
    /// - Throws: `SystemError`: it cannot be opened or made. Go on without, and say so.
    package init(of app: String, in state: Directory) throws(SystemError) {
        folder = try state.makeChild(Array("gone".utf8), mode: 0o700)
        name = Array("\(app).gone".utf8)
        temporaryName = Array(".\(app).gone".utf8)
        try folder.unlink(temporaryName)
        table = try GoneTable(try folder.openForWriting(name, mode: 0o600))
        try folder.sync(.state)
    }

    /// Reads the log on, a part of it at a time.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: EIO and the like. Go on without, and say so.
    package func readOn() throws(SystemError) -> Bool {
        guard uselessByteCount == nil else { return false }
        uselessByteCount = try table.readOn()
        return uselessByteCount == nil
    }

    /// How many tokens are gone.
    package var count: Int { table.count }

    /// Whether a token is gone, and is not to be sent to: then since when.
    ///
    /// One that has been registered later is forgotten.
    ///
    /// - Parameters:
    ///   - token: The token's bytes.
    ///   - registeredAt: When it was registered, if that is known.
    /// - Returns: `nil` when it is to be sent to.
    /// - Throws: `SystemError`: the log cannot be read, or not be written. Send to it.
    package func goneSince(
        _ token: ArraySlice<UInt8>, registeredAt: WallTime?
    ) throws(SystemError) -> WallTime? {
        guard let since = try table.goneSince(token) else { return nil }
        guard let registeredAt, registeredAt > since else { return since }
        try add(GoneRecord(.registered, token, at: registeredAt))
        return nil
    }

    /// Remembers that a token is gone.
    ///
    /// - Throws: `SystemError`: the log cannot be read, or not be written: it is not remembered.
    package func remember(_ token: ArraySlice<UInt8>, goneSince time: WallTime) throws(SystemError) {
        try add(GoneRecord(.gone, token, at: time))
    }

    private func add(_ record: GoneRecord?) throws(SystemError) {
        guard let record else { return }
        isDirty = true
        try table.add(record)
    }

    /// Writes what is remembered, so that the death of the process loses none of it.
    ///
    /// - Throws: `SystemError`: ENOSPC and the like; tokens that were gone are forgotten. Call it again for those that are
    ///   not any more.
    package func write() throws(SystemError) {
        guard table.log.isPending else { return }
        isDirty = true
        try table.write()
    }

    /// The file to sync, if anything was written since the last time.
    package func takeUnsynced() -> GoneFile? {
        defer { isDirty = false }
        return isDirty ? table.log.file : nil
    }

    // MARK: Writing it anew

    /// Whether most of the log says nothing any more, or it is being written anew: `rewriteOn` is to be called.
    package var wantsRewriting: Bool {
        rewriting != nil
            || table.recordCount > max(rewriteFloor, 2 * table.count + Self.staleLimit) && uselessByteCount != nil
    }

    /// Goes on with writing the log anew, without what says nothing any more. What is remembered meanwhile goes into both.
    ///
    /// - Throws: `SystemError`: ENOSPC and the like. The log stays as it is, and is tried again when it has twice as many records.
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
            // What was copied and has changed since comes again.
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
