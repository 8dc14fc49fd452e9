import Document
import JSON
import LinuxIO
import SpoolModel

/// The file beside a parked job that says what is left of it.
struct RestFile {
    /// What it says.
    let rest: Rest
    /// The same as it was written.
    let node: Node

    /// Reads the one beside a job in `hold/`.
    ///
    /// - Returns: `nil` when there is none, it is of another file, or it cannot be opened or read as one.
    /// - Throws: `SystemError`: EIO and the like.
    static func beside(_ name: FileName, in hold: Directory) throws(SystemError) -> RestFile? {
        guard let restName = name.rest, let status = try hold.status(of: name.bytes) else { return nil }
        let bytes = try hold.contentsBesideJob(restName, limit: Rest.byteLimit)
        var parser = JSON.Parser()
        guard let bytes, let root = try? parser.parse(bytes).root, let rest = Rest(root),
            rest.file.byteCount == status.byteCount, rest.file.modifiedAt == status.modifiedAt
        else { return nil }
        return RestFile(rest: rest, node: root)
    }
}
