import Document
import JSON
import LinuxIO
import SpoolModel

/// The remainder file of a held job.
struct RestFile {
    /// The remainder.
    let rest: Rest
    /// The parsed JSON of the file.
    let node: Node

    /// Reads the remainder file of a job in `hold/`.
    ///
    /// - Returns: `nil` if there is none, it belongs to another file, or it cannot be opened or parsed.
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
