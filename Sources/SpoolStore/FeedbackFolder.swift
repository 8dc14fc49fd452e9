package import APNSModel
package import LinuxIO
package import SpoolModel

/// Publishes one node's feedback files of one app: each is complete when it is visible, and their names strictly
/// increase, over restarts and backward steps of the clock. Calls block.
package final class FeedbackFolder {
    private var directory: Directory
    private let home: Directory
    private let node: String
    private let temporaryNames: PassingNames
    /// Whose this node's files may be here besides its user's: some filesystems say another than the one that made them.
    private let owner: UInt32
    private var newest: WallTime?
    /// A name that was not followed, because no clock tells its time; the last one of several.
    package private(set) var ignored: FileName?

    /// Before when the time in a name must be that somebody may have made: 2250. No clock is as wrong as that.
    private static let end = WallTime(epochSeconds: 8_835_955_200)
    /// The same of a name that only the daemon remembers, 2261: there are years for names behind those that were followed, and
    /// the last time of all, in 2262, would leave none.
    private static let ownEnd = WallTime(epochSeconds: 9_183_110_400)
    /// How many names are tried that somebody else has taken.
    static let tryLimit = 1000

    /// Starts after the newest file that is there, and after `floor`, the newest that the journal knows: consumers
    /// remove files. Names of 2250 or later are left to `ignored`.
    ///
    /// Removes what an interrupted publication left.
    ///
    /// - Throws: `SystemError`: the directory cannot be read.
    package init(_ app: AppSpool, after floor: WallTime? = nil) throws(SystemError) {
        directory = app.feedbackDirectory
        home = app.home
        node = app.node
        temporaryNames = PassingNames(".\(app.node)", ".tmp")
        owner = try app.work.status().owner
        if let floor { follow(wholeMicroseconds(floor), FileName(floor.compact + suffix), before: Self.ownEnd) }
        var listing = try directory.listing()
        while let entry = try listing.next() {
            if temporaryNames.contains(entry.name) { _ = try? directory.unlink(entry.name) }
            guard String(decoding: entry.name, as: UTF8.self).hasSuffix(suffix), let time = Self.time(of: entry.name)
            else { continue }
            follow(time, FileName(bytes: entry.name), before: Self.end)
        }
    }

    /// The name for the next file: the time, or the next microsecond after the last name given.
    ///
    /// - Throws: `SystemError`: EOVERFLOW when there is none, because the last name has the last time that can be told.
    package func nextName(at time: WallTime) throws(SystemError) -> FileName {
        var next = wholeMicroseconds(time)
        if let newest, next <= newest {
            next = wholeMicroseconds(newest + .microseconds(1))
            guard newest < next else { throw .overflow("name a feedback file", directory.path) }
        }
        newest = next
        guard let name = FileName(next.compact + suffix) else { preconditionFailure("a node name that is no name") }
        return name
    }

    /// Has the names to come follow one that was given before, whatever the clock says.
    ///
    /// - Returns: `false` when that is no name of a feedback file, or no clock tells its time.
    package func goOn(after name: FileName) -> Bool {
        guard let time = Self.time(of: name.bytes), time < Self.ownEnd else { return false }
        newest = max(newest ?? time, time)
        return true
    }

    private func follow(_ time: WallTime, _ name: FileName?, before end: WallTime) {
        if time < end {
            newest = max(newest ?? time, time)
        } else if newest.map({ $0 < time }) ?? true {
            ignored = name
        }
    }

    /// Writes, syncs and publishes one file of whole lines under the next name that nobody has taken.
    ///
    /// - Returns: The name.
    /// - Throws: `SystemError`: ENOSPC, EIO and the like, or there is no name for it. The lines may be out all the same, if the
    ///   folder could not be synced.
    @discardableResult
    package func publish(_ lines: [UInt8], at time: WallTime) throws(SystemError) -> FileName {
        for _ in 0..<Self.tryLimit {
            let name = try nextName(at: time)
            if try publish(lines, as: name) { return name }
        }
        throw .alreadyThere("name a feedback file", directory.path)
    }

    /// Writes, syncs and publishes one file of whole lines.
    ///
    /// - Returns: `false` when something of that name is there already: the lines are not in it.
    /// - Throws: `SystemError`: ENOSPC, EIO and the like. It is visible only if the folder could not be synced.
    package func publish(_ lines: [UInt8], as name: FileName) throws(SystemError) -> Bool {
        try openAgainIfRemoved()
        guard try directory.status(of: name.bytes) == nil else { return false }
        let temporary = temporaryNames.next()
        try write(lines, as: temporary)
        do {
            try directory.rename(temporary, to: directory, as: name.bytes)
        } catch {
            _ = try? directory.unlink(temporary)
            guard error.isAlreadyThere else { throw error }
            return false
        }
        try directory.sync(.feedbackFolder)
        return true
    }

    /// The folder's path, for messages and other programs.
    package var path: String { directory.path }

    /// Starts a pass over the folder's names, others' and unfinished ones among them.
    ///
    /// - Throws: `SystemError`: EMFILE, EACCES, EIO.
    package func listing() throws(SystemError) -> DirectoryListing {
        try directory.listing()
    }

    /// The name as one of this node's files; `nil` if it is none.
    package func own(_ name: [UInt8]) -> FileName? {
        guard Self.time(of: name) != nil, name.dropFirst(23).elementsEqual(suffix.utf8) else { return nil }
        return FileName(bytes: name)
    }

    /// What a name in the folder stands for.
    package enum Origin: Hashable, Sendable {
        /// A file that this node has published, as far as can be told.
        case own
        /// Nothing, any more.
        case gone
        /// Something that somebody else has put there, and why that is thought.
        case foreign(String)
    }

    /// What a name in the folder stands for: consumers that may write there can make and rename files.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func origin(of name: FileName) throws(SystemError) -> Origin {
        guard let time = Self.time(of: name.bytes), time < Self.end || newest.map({ time <= $0 }) == true else {
            return .foreign("no clock tells the time in its name")
        }
        // Another spelling of the time may come later in the order of names than it does by its time.
        guard name.bytes.starts(with: time.compact.utf8) else { return .foreign("the daemon gives no such names") }
        guard let status = try directory.status(of: name.bytes) else { return .gone }
        return origin(of: status)
    }

    /// What an open file is, by its status; its name may be another's by now.
    package func origin(of status: FileStatus) -> Origin {
        guard status.kind == .regular else { return .foreign("it is a \(status.kind.rawValue)") }
        guard status.owner == owner || status.owner == Host.userID else {
            return .foreign("it belongs to user \(status.owner), and the daemon's files to user \(owner)")
        }
        return .own
    }

    /// Opens a published file for reading. Ask `origin` for the name before, and for what was opened.
    ///
    /// - Throws: `SystemError`: ENOENT when a consumer has removed it.
    package func open(_ name: FileName) throws(SystemError) -> OpenFile {
        try directory.openForReading(name.bytes)
    }

    /// Whether a published file is still there, or at least nobody says otherwise.
    package func has(_ name: FileName) -> Bool {
        do throws(SystemError) {
            return try directory.status(of: name.bytes) != nil
        } catch {
            return true
        }
    }

    /// Leaves nothing when it throws, or what the next start removes.
    private func write(_ lines: [UInt8], as temporary: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            let file = try directory.create(temporary, mode: 0o640)
            try file.write(lines)
            try file.sync(.feedbackFile)
            try file.closeNow()
        } catch {
            _ = try? directory.unlink(temporary)
            throw error
        }
    }

    /// Consumers are to remove files, and some remove the folder.
    private func openAgainIfRemoved() throws(SystemError) {
        guard try directory.status().linkCount == 0 else { return }
        directory = try home.makeChild(Array("feedback".utf8), mode: 0o2750)
    }

    private var suffix: String { "-\(node).jsonl" }

    /// The time in a name of a feedback file of a node; `nil` for other nodes' and all others.
    static func time(of name: [UInt8], node: String) -> WallTime? {
        guard name.dropFirst(23).elementsEqual("-\(node).jsonl".utf8) else { return nil }
        return time(of: name)
    }

    /// The time in a name of a feedback file, `20261121T083616.123456Z-<node>.jsonl`, whatever the node.
    package static func time(of name: [UInt8]) -> WallTime? {
        guard name.count > 24, name[23] == UInt8(ascii: "-") else { return nil }
        let text = String(decoding: name, as: UTF8.self)
        let (date, clock) = (Array(text.prefix(8)), Array(text.dropFirst(9).prefix(6)))
        guard date.count == 8, clock.count == 6 else { return nil }
        let day = "\(String(date[0..<4]))-\(String(date[4..<6]))-\(String(date[6..<8]))"
        let time = "\(String(clock[0..<2])):\(String(clock[2..<4])):\(String(clock[4..<6]))"
        return WallTime(rfc3339: "\(day)T\(time)\(text.dropFirst(15).prefix(8))")
    }
}

private func wholeMicroseconds(_ time: WallTime) -> WallTime {
    WallTime(nanoseconds: time.nanoseconds / 1000 * 1000)
}
