import Document
import JSON
import JobFormat
import LinuxIO
import SpoolModel

/// The remainder file of a held job.
struct RemainderFile {
    /// The remainder.
    let remainder: Remainder
    /// The parsed JSON of the file.
    let node: Node

    /// Reads the remainder file of a job in `hold/`.
    ///
    /// - Returns: `nil` if there is none, it belongs to another file, or it cannot be opened or parsed.
    /// - Throws: `SystemError`: EIO and the like.
    static func beside(_ name: FileName, in hold: Directory) throws(SystemError) -> RemainderFile? {
        guard let restName = name.rest, let status = try hold.status(of: name.bytes) else { return nil }
        let bytes = try hold.contentsBesideJob(restName, limit: Remainder.byteLimit)
        var parser = JSON.Parser()
        guard let bytes, let root = try? parser.parse(bytes).root, let remainder = Remainder(root),
            remainder.file.byteCount == status.byteCount, remainder.file.modifiedAt == status.modifiedAt
        else { return nil }
        return RemainderFile(remainder: remainder, node: root)
    }
}
