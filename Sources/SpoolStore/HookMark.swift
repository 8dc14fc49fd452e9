package import JobFormat
package import LinuxIO

/// The name of the last feedback file that an app's hook received, kept across restarts in `hook-<app>` in the state folder.
///
/// Calls block.
package struct HookMark: Sendable {
    private let app: String
    private let mark: AppMark

    /// Creates the mark of an app.
    package init(of app: String, in state: Directory) {
        (self.app, mark) = (app, AppMark("hook", of: app, in: state))
    }

    /// The file's path, for messages.
    package var path: String { mark.path }

    /// Returns the name of the last file; `nil` if there is no mark yet.
    ///
    /// - Throws: `SystemError`: the mark cannot be read.
    package func read() throws(SystemError) -> FileName? {
        try mark.read(limit: FileName.byteLimit).flatMap { FileName(bytes: $0) }
    }

    /// Begins a mark in another folder where this one is, unless there is one.
    ///
    /// - Throws: `SystemError`: a mark cannot be read or written.
    package func inherit(to folder: Directory) throws(SystemError) {
        let copy = HookMark(of: app, in: folder)
        if try copy.read() == nil, let last = try read() { try copy.write(last) }
    }

    /// Replaces the mark in one step. A power loss may restore an older one; the hook then receives some files again.
    ///
    /// - Throws: `SystemError`: the volume is full or not writable. The old mark is intact.
    package func write(_ last: FileName) throws(SystemError) { try mark.write(last.bytes) }
}
