import JobFormat
import LinuxIO
import OpenSSL
import SpoolStore

/// Computes the digest of a job's file during its first reading. A class, because the readers of lines are values.
final class FileDigest {
    private var digest: Digest? = Digest()
    private let inode: UInt64
    private let bornAt: Int64?

    /// Starts with the attributes of the file that are known before it is read.
    init(of job: OpenJob) throws(SystemError) {
        (inode, bornAt) = (job.status.inode, try job.file.birthTime())
        // Unambiguous: no name contains a slash, and no time begins with one.
        update(job.name.bytes + Array("/\(job.status.modifiedAt)/".utf8))
    }

    /// Adds the next bytes of the file.
    func update(_ bytes: [UInt8]) {
        digest?.update(bytes.span)
    }

    /// Returns the digest; `nil` on a second call.
    func finish() -> FileSign? {
        guard let sum = digest.take()?.finish() else { return nil }
        return FileSign(sum: sum, inode: inode, bornAt: bornAt)
    }
}
