package import JournalModel
package import LinuxIO
package import PushModel
import Synchronization

/// The file in which one node records the progress of its jobs, `.pushspool/<node>/journal`.
///
/// The lock on its descriptor shows that the node's daemon is running, and all writes go through that descriptor.
/// Records are appended to memory (`append`), written to the file, where they survive the process (`write`), and
/// synced, so that they survive a power loss (`sync`). Each step covers all earlier records. While `run` runs,
/// concurrent callers of `sync` share one sync. Every method may be called on any thread. Only `sync` and `run`
/// suspend; `write` and `content` block for file calls.
///
/// The first failed write or sync is final: all calls throw from then on.
package final class Journal: Sendable {
    struct State {
        var book: JournalBook
        /// Records appended, and those known to be durable, since the start, counted by the notifications they cover.
        var appendedCount = 0
        var durableCount = 0
        /// When the oldest record was appended that no sync has started to cover.
        var dirtySince: ContinuousClock.Instant?
        var fault: SystemError?
        var syncing = JournalSyncing()
        var roomWaiters: [RoomRequest: RoomWaiter] = [:]
        var syncTimes = Histogram.ofSyncs
    }

    /// The division of the file, and so its size. The size from the configuration matters only when the file is created.
    package let layout: JournalLayout

    let file: OpenFile
    /// The directory that contains the file.
    private let directory: Directory
    let state: Mutex<State>
    let wakeUp: EventCounter
    private let writtenByteCount = Atomic(0)
    /// Held while writes from the book go to the file, to keep their order; `false` after an incomplete batch.
    private let writing = Mutex(true)

    init(_ file: consuming OpenFile, in directory: Directory, book: JournalBook) throws(SystemError) {
        wakeUp = try EventCounter()
        self.file = file
        self.directory = directory
        layout = book.layout
        state = Mutex(State(book: book))
    }

    deinit { file.unlock() }

    /// Checks that the lock is still ours, and that no other daemon has the file that has the name now: the lock does not
    /// stop one that finds another file, or none. A file that was only moved or removed (`isMisplaced`) still records.
    ///
    /// - Throws: `JournalFault`: the journal is lost or broken, and all calls throw from now on.
    package func confirm() throws(JournalFault) {
        try checked { _ in }
        try breaking { (file) throws(SystemError) in
            guard try file.lock() else { throw .stale("fcntl F_OFD_SETLK", file.path) }
            if try isMisplaced(), try JournalLock.isHeld(in: directory) { throw .stale("fstatat", file.path) }
        }
    }

    /// Whether the journal's name leads to another file, or to none. Blocks.
    ///
    /// - Throws: `SystemError`: it is unknown, for example after EACCES or EIO.
    package func isMisplaced() throws(SystemError) -> Bool {
        try directory.status(of: Self.fileName)?.isSameFile(as: file.status()) != true
    }

    /// Adds a record to those that wait to be written.
    ///
    /// If no region is free, jobs are carried forward first, which blocks for the file. There is room for everything
    /// that the shares allow (`hasRoom`).
    ///
    /// - Returns: its position, for use in a PUBLISHED record.
    /// - Throws: `JournalFault`: no room, and nothing was added; or the journal is broken.
    @discardableResult
    package func append(_ record: JournalRecord) throws(JournalFault) -> JournalPosition {
        let position = try makingRoom { () throws(JournalFault) in
            try change(by: record.notificationCount) { (book) throws(JournalFull) in try book.append(record) }
        }
        switch record {
        case .published, .cleaned: wakeForRoom()
        default: break
        }
        return position
    }

    /// Calls `body`. If there is no room, carries jobs forward and calls it once more.
    private func makingRoom(
        _ body: () throws(JournalFault) -> JournalPosition
    ) throws(JournalFault) -> JournalPosition {
        do throws(JournalFault) {
            return try body()
        } catch .full(.noRegion) {
            try carryForward()
            return try body()
        }
    }

    /// Adds the records of a partly sent job that is about to be claimed.
    ///
    /// - Parameters:
    ///   - header: Its header. The job must not be live.
    ///   - progress: What is left to send, and the outcomes so far.
    /// - Returns: The position of the last record.
    /// - Throws: `JournalFault`: no room, and nothing was added; or the journal is broken.
    @discardableResult
    package func adopt(
        _ header: JournalHeader, _ progress: JournalProgress
    ) throws(JournalFault) -> JournalPosition {
        try makingRoom { () throws(JournalFault) in
            try change { (book) throws(JournalFull) in try book.adopt(header, progress) }
        }
    }

    /// Writes the appended records to the file, so that they survive the death of the process.
    ///
    /// - Throws: `JournalFault`: the journal is broken.
    package func write() throws(JournalFault) {
        try writing.withLock { (isWhole) throws(JournalFault) in
            let writes = try checked { $0.book.takeWrites() }
            isWhole = false
            for write in writes {
                if write.needsSyncBefore { try breaking { (file) throws(SystemError) in try file.syncData(.journal) } }
                try breaking { (file) throws(SystemError) in try file.write(write.bytes, at: write.offset) }
                writtenByteCount.add(write.bytes.count, ordering: .relaxed)
            }
            isWhole = true
        }
    }

    /// Makes all records appended before durable. Blocks. For startup and shutdown, when nothing else is running.
    ///
    /// - Throws: `JournalFault`: the journal is broken.
    package func flush() throws(JournalFault) {
        let (count, position) = try checked { state in
            state.dirtySince = nil
            return (state.appendedCount, state.book.position)
        }
        try write()
        let start = ContinuousClock.now
        try breaking { (file) throws(SystemError) in try file.syncData(.journal) }
        let length = ContinuousClock.now - start
        let waiters = state.withLock { state in
            state.syncTimes.add(nanoseconds: length.wholeNanoseconds)
            state.durableCount = max(state.durableCount, count)
            state.book.noteDurable(through: position)
            return state.syncing.takeWaiters(through: state.durableCount)
        }
        for waiter in waiters { waiter.resume(returning: .durable) }
    }

    /// The position of the next record or one after it. No record has been written there yet.
    package var position: JournalPosition { state.withLock { $0.book.position } }

    /// Whether a job's header has room for this many checksums; a file of more than 31 GiB has too many.
    package func canHold(checkCount: Int) -> Bool { layout.canHold(checkCount: checkCount) }

    /// Returns the state of a live job.
    package func job(_ id: JobID) -> JournalJob? { state.withLock { $0.book.job(id) } }

    /// The live jobs.
    package var liveJobs: [JobID] { state.withLock { $0.book.liveJobs } }

    /// Returns the finals of an app's live jobs that have ended, which tell where their files are or will be.
    package func finals(of app: String) -> [JournalFinal] { state.withLock { $0.book.finals(of: app) } }

    /// How often a daemon died while it read a file, as far as is recorded; `nil` if none is known to have.
    package func suspicion(of subject: JournalSubject) -> JournalSuspicion? {
        state.withLock { $0.book.suspicion(of: subject) }
    }

    /// The error that broke the journal; `nil` if it works.
    package var fault: SystemError? { state.withLock { $0.fault } }

    /// How long syncs have taken since the start, and how many bytes were written.
    package var figures: (syncTimes: Histogram, writtenByteCount: Int) {
        (state.withLock { $0.syncTimes }, writtenByteCount.load(ordering: .relaxed))
    }

    /// Breaks the journal, also after an error outside it: a failed sync of the spool leaves its files unknown.
    package func condemn(_ error: SystemError) {
        let waiters = state.withLock { state in
            state.fault = state.fault ?? error
            return state.syncing.takeWaiters(through: .max)
        }
        for waiter in waiters { waiter.resume(returning: .broken(error)) }
        wakeUp.signal()
    }

    /// Records after a failure that the daemon exits of its own accord and did not crash while reading a job. Does
    /// nothing if the file is not ours any more.
    ///
    /// The record is written after those added before, once and without a sync. Nothing relies on it: if it is lost, or
    /// a record before it is, the next daemon counts a crash.
    package func takeLeave() {
        guard let fault, !fault.isStale else { return }
        // If another thread is writing, that write hangs. The exit does not wait for it.
        _ = writing.withLockIfAvailable { isWhole in
            // After an incomplete batch the region's head may be missing. The record would go into one that still counts.
            guard isWhole else { return }
            let writes = state.withLock { state in
                (try? state.book.append(.stopped)) == nil ? [] : state.book.takeWrites()
            }
            for write in writes {
                if write.needsSyncBefore { return }
                guard (try? file.write(write.bytes, at: write.offset)) != nil else { return }
            }
        }
    }

    /// Changes the book, adds `count` to the appended records, and wakes the syncing thread if needed.
    func change<Result: Sendable>(
        by count: Int = 1, _ body: (inout JournalBook) throws(JournalFull) -> Result
    ) throws(JournalFault) -> Result {
        let (result, mustWake) = try checked { (state) throws(JournalFault) in
            let result: Result
            do throws(JournalFull) {
                result = try body(&state.book)
            } catch {
                throw .full(error)
            }
            state.appendedCount += count
            let isFirst = state.dirtySince == nil
            if isFirst { state.dirtySince = .now }
            let mustWake = state.syncing.mustWake(isFirst: isFirst, count: state.appendedCount - state.durableCount)
            return (result, mustWake)
        }
        if mustWake { wakeUp.signal() }
        return result
    }

    func checked<Result: Sendable>(
        _ body: (inout State) throws(JournalFault) -> Result
    ) throws(JournalFault) -> Result {
        try state.withLock { (state) throws(JournalFault) in
            if let fault = state.fault { throw .broken(fault) }
            return try body(&state)
        }
    }

    /// Runs an operation on the file. A failure breaks the journal.
    func breaking(_ body: (borrowing OpenFile) throws(SystemError) -> Void) throws(JournalFault) {
        do {
            try body(file)
        } catch {
            condemn(error)
            throw .broken(error)
        }
    }
}
