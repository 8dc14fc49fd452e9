package import JobFormat
package import LinuxIO

extension Directory {
    /// The content of a file next to a job, in a folder where other users may have put any file.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - limit: The largest size in bytes.
    ///   - noteUnreadable: Called if it cannot be opened, or is not a regular file.
    /// - Returns: `nil` if there is no such file, it is larger, or it cannot be opened.
    /// - Throws: `SystemError`: EIO and the like.
    package func contentsBesideJob(
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
