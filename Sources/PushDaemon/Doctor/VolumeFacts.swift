import APNSModel
import LinuxIO

/// What the filesystem of a folder can do, found out with files whose names begin with a point, which are never jobs.
struct VolumeFacts: Sendable {
    /// Whether the kernel tells of renames there.
    enum Notification: Hashable, Sendable {
        /// It has told of one.
        case told
        /// It has not, though it was asked to.
        case untold
        /// It cannot be asked.
        case fault(WatchFault)
    }

    /// The folder where it was tried.
    let place: String
    /// The filesystem.
    var type = "unknown"
    /// Whether others change it without the kernel telling.
    var isShared = false
    /// The room there is.
    var space: FilesystemSpace?
    /// Why no file can be made there, or written.
    var refusal: SystemError?
    /// Whether a rename can refuse a taken name.
    var hasNoReplace = true
    /// Whether a file can have two names.
    var hasLinks = true
    /// Whether it is known who writes to a file.
    var lease = ReadLease.granted
    /// How long a sync takes.
    var syncTime = Duration.zero
    /// How far its time is ahead of this host's.
    var lead = Duration.zero
    /// Whether renames are told.
    var notification = Notification.told

    /// What the names of test files begin with.
    static var prefix: String { ".doctor-\(Host.processID)" }

    /// Tries what blocks. The folder is left as it was.
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

    /// How far a file's time is outside of those between which it was made: the kernel's own clock is coarse.
    private func excess(of time: WallTime, from begin: WallTime, to end: WallTime) -> Duration {
        time > end ? time - end : time < begin ? time - begin : .zero
    }
}
