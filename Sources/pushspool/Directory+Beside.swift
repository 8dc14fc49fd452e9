import LinuxIO
import SpoolModel

extension Directory {
    /// The content of a file that stands beside a job, where others may have put what they like.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - limit: How many bytes it may have.
    ///   - noteUnreadable: Called if it cannot be opened, or is no file.
    /// - Returns: `nil` when there is none, it is longer, or it cannot be opened.
    /// - Throws: `SystemError`: EIO and the like.
    func contentsBesideJob(
        _ name: FileName, limit: Int, _ noteUnreadable: () -> Void = {}
    ) throws(SystemError) -> [UInt8]? {
        do {
            return try openRegular(name.bytes).contents(limit: limit)
        } catch {
            if error.isNotFound { return nil }
            guard error.isOfOneFile else { throw error }
            noteUnreadable()
            return nil
        }
    }
}
