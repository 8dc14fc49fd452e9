import LinuxIO
import SpoolModel
import SpoolStore

/// Makes what goes to the archives survive a power loss, on a thread of its own: a sync may take long.
actor ArchiveSync {
    private let worker: WorkerThread
    /// When the last sync of each filesystem began that came to a good end, by its device.
    private var begun: [UInt64: ContinuousClock.Instant] = [:]

    init() throws(SystemError) {
        worker = try WorkerThread(name: "archives")
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Syncs the filesystem of an app, unless that began after the call: apps that ask meanwhile share a sync.
    ///
    /// - Throws: `SystemError`; final, as all failed syncs.
    nonisolated func sync(_ spool: AppSpool) async throws(SystemError) {
        try await sync(spool.work, askedAt: .now)
    }

    /// Writes and syncs the result of a job that is about to be archived: one at a time, so that no app waits for all of
    /// another's.
    ///
    /// - Throws: `SystemError`: ENOSPC, EIO and the like.
    func stage(_ draft: ResultDraft, in work: Directory) throws(SystemError) {
        try draft.stage(in: work)
    }

    /// Syncs folders in this order.
    ///
    /// - Throws: `SystemError`; final, as all failed syncs.
    func sync(_ moves: [(folder: Directory, site: SyncSite)]) throws(SystemError) {
        for move in moves { try move.folder.sync(move.site) }
    }

    /// Syncs what is remembered of tokens that are gone.
    ///
    /// - Throws: `SystemError`: what was not synced before may be lost.
    func sync(_ file: GoneFile) throws(SystemError) {
        try file.sync()
    }

    /// Syncs what was read of a feedback service.
    ///
    /// - Throws: `SystemError`: it may be lost.
    func sync(_ file: KeptFeedback) throws(SystemError) {
        try file.sync()
    }

    /// Syncs the filesystem of a folder, unless that began after somebody asked for it.
    ///
    /// - Throws: `SystemError`; final, as all failed syncs.
    func sync(_ folder: Directory, askedAt: ContinuousClock.Instant) throws(SystemError) {
        let device = try folder.status().device
        if let start = begun[device], start > askedAt { return }
        let start = ContinuousClock.now
        try folder.syncFilesystem(.archives)
        begun[device] = start
    }
}
