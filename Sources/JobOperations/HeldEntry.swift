package import APNSModel
import JobFormat
import OpenSSL
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

    /// Whether both belong to the same file, whatever its inode is now.
    func isOfSameFile(as other: HeldEntry) -> Bool {
        (file.byteCount, file.modifiedAt) == (other.file.byteCount, other.file.modifiedAt)
    }

    /// Whether the reference names this job by one of its ids.
    func isMeant(by reference: JobReference) -> Bool {
        reference.isMeant(name: nil, id: id, ref: ref)
    }
}

extension JobID {
    /// Returns a new random id for a job.
    package static func random() -> JobID { JobID(bits: RandomBytes.makeNumber()) }
}
