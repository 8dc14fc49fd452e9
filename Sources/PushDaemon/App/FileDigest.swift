import LinuxIO
import OpenSSL
import SpoolModel
import SpoolStore

/// Sums a job's file up while it is read for the first time. A class, because who reads lines is kept as a value.
final class FileDigest {
    private var digest: Digest? = Digest()
    private let inode: UInt64
    private let bornAt: Int64?

    /// Begins with what is known of the file before it is read.
    init(of job: OpenJob) throws(SystemError) {
        (inode, bornAt) = (job.status.inode, try job.file.birthTime())
        // No name has a slash in it, and a time has none before it.
        update(job.name.bytes + Array("/\(job.status.modifiedAt)/".utf8))
    }

    /// Adds the next of its bytes.
    func update(_ bytes: [UInt8]) {
        digest?.update(bytes.span)
    }

    /// Ends the sum; `nil` the second time.
    func finish() -> FileSign? {
        guard let sum = digest.take()?.finish() else { return nil }
        return FileSign(sum: sum, inode: inode, bornAt: bornAt)
    }
}
