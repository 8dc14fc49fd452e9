import JobFormat
import LinuxIO
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore

/// A remainder without its indices, which are read only when needed.
struct HeldEntry {
    /// The name of the remainder in `hold/`.
    let name: FileName
    /// The file to which it belongs.
    let file: Remainder.File
    let id: JobID?
    let ref: String?
    /// The archive from which the job was taken, if any.
    let origin: ArchivePlace?

    init(_ remainder: Remainder, as name: FileName) {
        (self.name, file, id, ref) = (name, remainder.file, remainder.sent?.id, remainder.sent?.ref)
        origin = remainder.origin.flatMap(ArchivePlace.init(path:))
    }

    /// How long the remainder of a missing file is kept after the file was held: the file may have been moved
    /// elsewhere.
    private static let keptAlone = Duration.seconds(30 * 86_400)

    /// Whether the job of a missing file has ended, or the file has been missing for too long.
    func isOver(_ inode: UInt64, in spool: AppSpool) throws(SystemError) -> Bool {
        if let origin, try spool.archives.status(at: origin)?.inode == inode { return true }
        guard let status = try spool.holdDirectory.status(of: name.bytes) else { return true }
        let parkedAt = WallTime(nanoseconds: status.modifiedAt)
        if parkedAt + Self.keptAlone <= .now { return true }
        return try spool.archives.hasFailed(inode, since: parkedAt.day)
    }

    /// Whether the reference names this job by one of its ids.
    func isMeant(by reference: JobReference) -> Bool {
        reference.isMeant(name: nil, id: id, ref: ref)
    }
}

extension FileStatus {
    /// The identity of the file, which does not change when it is moved.
    var fileOfRemainder: Remainder.File {
        Remainder.File(inode: inode, byteCount: byteCount, modifiedAt: modifiedAt)
    }
}

extension Remainder.File {
    /// Whether both may be the same file, whatever its inode is now.
    func isLike(_ other: Remainder.File) -> Bool {
        (byteCount, modifiedAt) == (other.byteCount, other.modifiedAt)
    }
}
