package import LinuxIO
package import SpoolStore

/// Makes archived files survive a power loss. Uses a thread of its own, because a sync may take long.
package actor ArchiveSync {
    nonisolated let worker: WorkerThread
    /// The start of the last successful sync of each filesystem, by device.
    private var begun: [UInt64: ContinuousClock.Instant] = [:]

    init() throws(SystemError) {
        worker = try WorkerThread(name: "archives")
    }

    /// The executor of its thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Syncs the filesystem of an app, unless a sync of it has begun after this call. Apps that call at the same time
    /// share a sync.
    ///
    /// - Throws: `SystemError`. After ENOSPC, call again; any other failed sync is final.
    package nonisolated func sync(_ spool: AppSpool) async throws(SystemError) {
        try await sync(spool.work, askedAt: .now)
    }

    /// Writes and syncs the result of a job that is about to be archived. Results are written one at a time, so that no
    /// app waits for all results of another.
    ///
    /// - Throws: `SystemError`: ENOSPC, EIO and the like.
    package func stage(_ draft: ResultDraft, in work: Directory) throws(SystemError) {
        try draft.stage(in: work)
    }

    /// Syncs the list of tokens that are no longer valid.
    ///
    /// - Throws: `SystemError`: entries not synced before may be lost.
    package func sync(_ file: GoneFile) throws(SystemError) {
        try file.sync()
    }

    /// Syncs the filesystem of a folder, unless a sync of it has begun after `askedAt`.
    ///
    /// - Throws: `SystemError`. After ENOSPC, call again; any other failed sync is final.
    func sync(_ folder: Directory, askedAt: ContinuousClock.Instant) throws(SystemError) {
        let device = try folder.status().device
        if let start = begun[device], start > askedAt { return }
        let start = ContinuousClock.now
        try folder.syncFilesystem(.archives)
        begun[device] = start
    }
}
