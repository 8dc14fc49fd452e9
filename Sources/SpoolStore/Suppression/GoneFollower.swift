import LinuxIO
import SpoolModel

/// Reads the log of gone tokens that another node of the cluster writes, as it grows. Calls block.
final class GoneFollower {
    private let folder: Directory
    private let name: [UInt8]
    /// The file that was read last, how far, and the checksum there. The node replaces its file now and then.
    private var inode: UInt64?
    private var offset = 0
    private var sum = GoneRecord.headSum

    init(_ name: [UInt8], in folder: Directory) {
        (self.name, self.folder) = (name, folder)
    }

    /// Reads the next records.
    ///
    /// - Parameter body: Called with each record in order.
    /// - Returns: Whether there may be more now.
    /// - Throws: `SystemError`: for example EIO; or an error of `body`.
    func readOn(_ body: (GoneRecord) throws(SystemError) -> Void) throws(SystemError) -> Bool {
        var bytes: [UInt8] = []
        do throws(SystemError) {
            let file = try folder.openForReading(name)
            let current = try file.status().inode
            if inode != current { (inode, offset, sum) = (current, GoneRecord.head.count, GoneRecord.headSum) }
            _ = try file.read(GoneLog.stepByteCount, at: Int64(offset), appendingTo: &bytes)
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
        var start = 0
        while let found = GoneRecord.read(bytes, at: start, after: sum) {
            try body(found.record)
            start += found.record.byteCount
            (offset, sum) = (offset + found.record.byteCount, found.sum)
        }
        return start > 0 && bytes.count == GoneLog.stepByteCount
    }
}
