import LinuxIO
import PushModel
import ServiceProcess

/// The abilities of the filesystem of a folder, found by creating hidden files, which are never jobs.
struct VolumeFacts: Sendable {
    /// Whether the kernel reports renames in the folder.
    enum Notification: Hashable, Sendable {
        /// A rename was reported.
        case told
        /// A rename was not reported, though the folder was watched.
        case untold
        /// The folder cannot be watched.
        case fault(WatchFault)
    }

    /// The folder in which the test was made.
    let place: String
    /// The type of the filesystem.
    var type = "unknown"
    /// Whether other hosts can change it without an event from this kernel.
    var isShared = false
    /// The free space.
    var space: FilesystemSpace?
    /// Why no file can be created or written in the folder.
    var refusal: SystemError?
    /// Whether a rename can fail if the new name exists.
    var hasNoReplace = true
    /// Whether hard links are supported.
    var hasLinks = true
    /// Whether a read lease, which shows that no process is writing to the file, is available.
    var lease = ReadLease.granted
    /// The duration of a sync.
    var syncTime = Duration.zero
    /// How far the filesystem's clock is ahead of this host's.
    var lead = Duration.zero
    /// Whether renames are reported.
    var notification = Notification.told

    /// The prefix of the test files' names.
    static var prefix: String { ".doctor-\(Host.processID)" }

    /// Runs the tests that block. Leaves the folder as it was.
    static func look(at place: String) -> VolumeFacts {
        var facts = VolumeFacts(place: place)
        do throws(SystemError) {
            try facts.look(in: try Directory.open(path: place))
        } catch {
            facts.refusal = error
        }
        return facts
    }

    private mutating func look(in directory: Directory) throws(SystemError) {
        let filesystem = try directory.filesystemType()
        (type, isShared) = ("\(filesystem)", filesystem.isShared)
        space = try directory.filesystemSpace()
        let names = ["a", "b"].map { Array("\(Self.prefix)-\($0)".utf8) }
        do throws(SystemError) {
            try look(in: directory, names)
        } catch {
            for name in names { _ = try? directory.unlink(name) }
            throw error
        }
        for name in names { try directory.unlink(name) }
    }

    private mutating func look(in directory: Directory, _ names: [[UInt8]]) throws(SystemError) {
        let begin = WallTime.now
        let file = try directory.create(names[0], mode: 0o600)
        let status = try file.status()
        lead = excess(of: WallTime(nanoseconds: status.changedAt), from: begin, to: .now)
        let start = ContinuousClock.now
        try file.write([UInt8](repeating: 0x20, count: 4096))
        try file.sync()
        syncTime = ContinuousClock.now - start
        try file.closeNow()
        lease = try directory.openForReading(names[0]).takeReadLease()
        do throws(SystemError) {
            try directory.renameNatively(names[0], to: directory, as: names[1])
        } catch {
            guard error.isUnsupported else { throw error }
            hasNoReplace = false
            try directory.rename(names[0], to: directory, replacing: names[1])
        }
        do throws(SystemError) {
            try directory.link(names[1], to: directory, as: names[0])
        } catch {
            guard error.isUnsupported || error.isPermission else { throw error }
            hasLinks = false
        }
    }

    /// How far a file's timestamp is outside the interval in which the file was created. The kernel's own clock for
    /// files is coarse.
    private func excess(of time: WallTime, from begin: WallTime, to end: WallTime) -> Duration {
        time > end ? time - end : time < begin ? time - begin : .zero
    }
}
