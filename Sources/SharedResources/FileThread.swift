package import LinuxIO

/// A thread for the files of some apps on one filesystem, and one that all apps on it share for syncs. When the
/// filesystem hangs, only the apps on it wait.
///
/// A `FileThread` exists as long as the process, since an unmounted filesystem may come back.
package actor FileThread {
    /// The thread for file operations.
    package nonisolated let worker: WorkerThread
    /// Syncs archived files.
    package nonisolated let archives: ArchiveSync
    /// Decides which job is read next.
    package nonisolated let turns: TurnGate

    /// Starts the first thread for the files of a filesystem, and the one for syncs.
    ///
    /// - Throws: `SystemError` (EMFILE, EAGAIN): the process has no descriptor or no thread left.
    package init() throws(SystemError) {
        try self.init(sharing: try ArchiveSync())
    }

    /// Starts another thread for the files of a filesystem.
    ///
    /// - Throws: The same.
    package init(besides other: FileThread) throws(SystemError) {
        try self.init(sharing: other.archives)
    }

    private init(sharing archives: ArchiveSync) throws(SystemError) {
        worker = try WorkerThread(name: "files")
        self.archives = archives
        turns = TurnGate(on: worker)
    }

    /// The executor of the thread for file operations.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }
}
