package import LinuxIO
import SpoolStore

/// The lines that a node tells before it publishes them, as far as they were read: a file that it appends to. What is missed
/// here is in the published files.
package final class EarlyLines {
    private let file: OpenFile
    private var lines = JSONLines()

    /// Opens a file of an app.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - home: The app's folder.
    /// - Returns: `nil` if it is gone, or not the daemon's.
    /// - Throws: `SystemError`: for example EACCES or EMFILE.
    package static func open(_ name: [UInt8], of home: Directory) throws(SystemError) -> EarlyLines? {
        do throws(SystemError) {
            let file = try home.openChild(Array("feedback".utf8)).openRegular(name)
            guard try FeedbackWriters(of: home).objection(to: file.status()) == nil else { return nil }
            return EarlyLines(file)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    private init(_ file: consuming OpenFile) { self.file = file }

    /// Calls `body` with each complete line that was not read yet.
    ///
    /// - Throws: `SystemError` if the file cannot be read.
    package func read(_ body: (JSONLines.Line) -> Void) throws {
        try lines.readOn(file, isWhole: false) { _, line in body(line) }
    }
}
