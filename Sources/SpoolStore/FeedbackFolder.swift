package import JobFormat
package import LinuxIO
package import PushModel
import SpoolModel

/// Publishes one node's feedback files of one app. Each file is complete when it becomes visible. Names strictly
/// increase, also across restarts and backward clock steps. Calls block.
package final class FeedbackFolder {
    private var directory: Directory
    private let home: Directory
    /// The node whose files it publishes.
    let node: String
    private let temporaryNames: PassingNames
    private let writers: FeedbackWriters
    private var newest: WallTime?
    /// The file of early lines that this run has begun; `nil` if there is none, or a part of a line may be in it.
    private var early: FileIdentity?
    /// A file name that was not followed because its time is implausible; the last of several.
    package private(set) var ignored: FileName?

    /// The limit for times in names that only the daemon remembers: 2261. It leaves years of names after those that were
    /// followed; the last representable time, in 2262, would leave none.
    private static let ownEnd = WallTime(epochSeconds: 9_183_110_400)
    /// How many names are tried if other programs have taken them.
    static let tryLimit = 1000

    /// Starts after the newest existing file and after `floor`, the newest that the journal knows, because consumers
    /// remove files. Names of 2250 or later are not followed but stored in `ignored`.
    ///
    /// Removes the remains of an interrupted publication.
    ///
    /// - Throws: `SystemError`: the directory cannot be read.
    package init(_ app: AppSpool, after floor: WallTime? = nil) throws(SystemError) {
        directory = app.feedbackDirectory
        home = app.home
        node = app.node
        temporaryNames = PassingNames(".\(app.node)", ".tmp")
        writers = try FeedbackWriters(publishingFrom: app.work)
        if let floor { follow(wholeMicroseconds(floor), FileName(floor.compact + suffix), before: Self.ownEnd) }
        var listing = try directory.listing()
        while let entry = try listing.next() {
            if temporaryNames.contains(entry.name) { _ = try? directory.unlink(entry.name) }
            guard String(decoding: entry.name, as: UTF8.self).hasSuffix(suffix),
                let time = FeedbackFileName.time(of: entry.name)
            else { continue }
            follow(time, FileName(bytes: entry.name), before: FeedbackFileName.end)
        }
    }

    /// Returns the name for the next file: the given time, or the microsecond after the last name if that is later.
    ///
    /// - Throws: `SystemError`: EOVERFLOW if the last name already has the last representable time.
    package func nextName(at time: WallTime) throws(SystemError) -> FileName {
        var next = wholeMicroseconds(time)
        if let newest, next <= newest {
            next = wholeMicroseconds(newest + .microseconds(1))
            guard newest < next else { throw .overflow("name a feedback file", directory.path) }
        }
        newest = next
        guard let name = FileName(next.compact + suffix) else { preconditionFailure("invalid node name") }
        return name
    }

    /// Makes later names follow `name`, which was given before, regardless of the clock.
    ///
    /// - Returns: `false` if it is not the name of a feedback file, or its time is implausible.
    package func goOn(after name: FileName) -> Bool {
        guard let time = FeedbackFileName.time(of: name.bytes), time < Self.ownEnd else { return false }
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

    /// Writes, syncs and publishes one file of complete lines under the next free name.
    ///
    /// - Returns: The name.
    /// - Throws: `SystemError`: for example ENOSPC or EIO, or no name is free. The file may be visible all the same, if
    ///   the folder could not be synced.
    @discardableResult
    package func publish(_ lines: [UInt8], at time: WallTime) throws(SystemError) -> FileName {
        for _ in 0..<Self.tryLimit {
            let name = try nextName(at: time)
            if try publish(lines, as: name) { return name }
        }
        throw .alreadyThere("name a feedback file", directory.path)
    }

    /// Writes, syncs and publishes one file of complete lines.
    ///
    /// - Returns: `false` if the name is already taken; the lines are not in that file.
    /// - Throws: `SystemError`: for example ENOSPC or EIO. The file is visible only if just the sync of the folder failed.
    package func publish(_ lines: [UInt8], as name: FileName) throws(SystemError) -> Bool {
        try followPath()
        guard try directory.status(of: name.bytes) == nil else { return false }
        let temporary = temporaryNames.next()
        try directory.write(lines, toNew: temporary, mode: 0o640, for: .feedbackFile)
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

    /// Tells lines before they are published: appends them to a file that waiting readers follow. Their records must be durable.
    ///
    /// The file is not synced, and a new one replaces it when it is long, so nothing may rely on it.
    ///
    /// - Throws: `SystemError`: for example ENOSPC. Readers miss lines, and find them in a published file.
    package func tellEarly(_ lines: [UInt8]) throws(SystemError) {
        try followPath()
        let (name, known) = (Array(".\(node)".utf8) + Self.earlyEnding, early)
        early = nil
        // What another program has put there may have got the same inode.
        if let known, let there = try directory.status(of: name), there.identity == known, origin(of: there) == .own {
            let file = try directory.openForWriting(name, mode: 0o640)
            let status = try file.status()
            if status.identity == known, status.byteCount < Self.earlyByteLimit {
                try file.write(lines, at: status.byteCount)
                early = known
                return
            }
        }
        // Another user cannot have put this file there, and it has no lines of an earlier run.
        try directory.replace(name, by: temporaryNames.next(), mode: 0o640) { (file) throws(SystemError) in
            try file.write(lines)
            early = try file.status().identity
        }
    }

    /// Whether a name is that of a node's file of early lines. No file that is about to be published has such a name.
    package static func isEarly(_ name: [UInt8]) -> Bool {
        name.first == 0x2E && name.suffix(earlyEnding.count) == earlyEnding[...]
    }

    private static let earlyEnding = Array(".early".utf8)

    /// How long the file of early lines gets before another one replaces it, in bytes.
    private static let earlyByteLimit: Int64 = 1 << 20

    /// The folder's path, for messages and other programs.
    package var path: String { directory.path }

    /// Starts a pass over the folder's names, including those of other nodes and of unfinished files.
    ///
    /// - Throws: `SystemError`: EMFILE, EACCES, EIO.
    package func listing() throws(SystemError) -> DirectoryListing {
        try directory.listing()
    }

    /// Counts the files that a count is for.
    ///
    /// - Throws: `SystemError`: the folder cannot be read.
    func count(with count: inout FolderCount, at now: WallTime) throws(SystemError) -> Int {
        try count.look(at: directory, now: now)
    }

    /// Returns the name if it has the form of this node's files; else `nil`.
    package func own(_ name: [UInt8]) -> FileName? {
        guard FeedbackFileName.time(of: name) != nil, name.dropFirst(23).elementsEqual(suffix.utf8) else { return nil }
        return FileName(bytes: name)
    }

    /// The origin of a file in the folder.
    package enum Origin: Hashable, Sendable {
        /// This node published it, as far as can be checked.
        case own
        /// The file does not exist any more.
        case gone
        /// Another program created it; the text gives the reason for this conclusion.
        case foreign(String)
    }

    /// Determines the origin of a file in the folder. Consumers with write permission there can create and rename files.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func origin(of name: FileName) throws(SystemError) -> Origin {
        guard let time = FeedbackFileName.time(of: name.bytes),
            time < FeedbackFileName.end || newest.map({ time <= $0 }) == true
        else {
            return .foreign("the time in its name is not plausible")
        }
        // Another spelling of the same time may sort after later times.
        guard name.bytes.starts(with: time.compact.utf8) else { return .foreign("the daemon does not use such names") }
        guard let status = try directory.status(of: name.bytes) else { return .gone }
        return origin(of: status)
    }

    /// Determines the origin of an open file from its status, because its name may belong to another file by now.
    package func origin(of status: FileStatus) -> Origin {
        writers.objection(to: status).map { .foreign($0) } ?? .own
    }

    /// Opens a published file for reading. Check `origin` of the name before, and of the opened file after.
    ///
    /// - Throws: `SystemError`: ENOENT if a consumer has removed it.
    package func open(_ name: FileName) throws(SystemError) -> OpenFile {
        try directory.openForReading(name.bytes)
    }

    /// Whether a published file still exists. Returns `true` if that cannot be checked.
    package func has(_ name: FileName) -> Bool {
        do throws(SystemError) {
            return try directory.status(of: name.bytes) != nil
        } catch {
            return true
        }
    }

    /// Opens the folder that has the path now: consumers remove or move the folder together with its files.
    private func followPath() throws(SystemError) {
        guard try !FolderPlace.entry(Array("feedback".utf8), of: home).leads(to: directory) else { return }
        directory = try home.makeChild(Array("feedback".utf8), mode: 0o2750)
    }

    private var suffix: String { "-\(node).jsonl" }

    /// Returns the time in the name of a node's feedback file; `nil` for other nodes' files and all other names.
    static func time(of name: [UInt8], node: String) -> WallTime? {
        guard name.dropFirst(23).elementsEqual("-\(node).jsonl".utf8) else { return nil }
        return FeedbackFileName.time(of: name)
    }
}

private func wholeMicroseconds(_ time: WallTime) -> WallTime {
    WallTime(nanoseconds: time.nanoseconds / 1000 * 1000)
}
