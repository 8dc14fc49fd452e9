package import APNSModel
package import LinuxIO
package import SpoolModel
import Synchronization

/// The file in which one node records what becomes of its jobs, `.pushspool/<node>/journal`.
///
/// The lock on its descriptor says that the node's daemon lives, and everything is written through that descriptor.
/// Records are appended to memory (`append`), written to the file, which outlives the process (`write`), and synced, which
/// outlives the machine (`sync`); each step takes all that came before. While `run` runs, those who wait for a sync at the
/// same time share one. Every method may be called on any thread; only `sync` and `run` suspend, and `write` and
/// `content` block for file calls.
///
/// The first write or sync that fails is the last: all calls throw from then on.
package final class Journal: Sendable {
    struct State {
        var book: JournalBook
        /// Records appended, and those of them known to be durable, since the start; by the notifications that they tell of.
        var appendedCount = 0
        var durableCount = 0
        /// When the oldest record came that no sync has begun with.
        var dirtySince: ContinuousClock.Instant?
        var fault: SystemError?
        var syncing = JournalSyncing()
        var roomWaiters: [RoomWish: RoomWaiter] = [:]
        var syncTimes = Histogram.ofSyncs
    }

    /// How the file is divided, which says its size too. The size that was asked for counts only when it is made.
    package let layout: JournalLayout

    let file: OpenFile
    /// Where the file is.
    private let directory: Directory
    let state: Mutex<State>
    let wakeUp: WakeUp
    private let writtenByteCount = Atomic(0)
    /// Held while what was taken from the book goes to the file, so that it gets there in order; whether all of it did.
    private let writing = Mutex(true)

    init(_ file: consuming OpenFile, in directory: Directory, book: JournalBook) throws(SystemError) {
        wakeUp = try WakeUp()
        self.file = file
        self.directory = directory
        layout = book.layout
        state = Mutex(State(book: book))
    }

    deinit {
        file.unlock()
    }

    /// Makes sure that the lock is still ours, and the name still this file's: whoever finds another file, or none, under it
    /// is not kept out by the lock.
    ///
    /// - Throws: `JournalFault`: the journal is lost or broken, and all calls throw from now on.
    package func confirm() throws(JournalFault) {
        try checked { _ in }
        try breaking { (file) throws(SystemError) in
            guard try file.lock() else { throw .stale("fcntl F_OFD_SETLK", file.path) }
            let own = try file.status()
            guard let named = try directory.status(of: Self.fileName), named.isSameFile(as: own) else {
                throw .stale("fstatat", file.path)
            }
        }
    }

    /// Adds a record to those that wait to be written.
    ///
    /// Where no region is free, jobs are carried forward first, which blocks for the file. There is room for all that the
    /// shares allow (`hasRoom`).
    ///
    /// - Returns: its position, which a PUBLISHED record may name.
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

    /// Does it once more after jobs were carried forward, if there is no room.
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

    /// Adds the records of a job that is about to be claimed, and of which something was sent before.
    ///
    /// - Parameters:
    ///   - header: Its header. The job must not be live.
    ///   - progress: What is left of it, and what became of the rest.
    /// - Returns: The position of the last of them.
    /// - Throws: `JournalFault`: no room, and nothing was added; or the journal is broken.
    @discardableResult
    package func adopt(
        _ header: JournalHeader, _ progress: JournalProgress
    ) throws(JournalFault) -> JournalPosition {
        try makingRoom { () throws(JournalFault) in
            try change { (book) throws(JournalFull) in try book.adopt(header, progress) }
        }
    }

    /// Writes to the file what was appended: the death of the process loses nothing of it then.
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

    /// Makes durable all that was appended before; blocks. For where nothing else is going on: at the start and the end.
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

    /// Where the next record goes, or behind that: no record was written there yet.
    package var position: JournalPosition { state.withLock { $0.book.position } }

    /// Whether a job's header can have so many checksums in it: a file of over 31 GiB has too many.
    package func canHold(checkCount: Int) -> Bool { layout.canHold(checkCount: checkCount) }

    /// What is known of a live job.
    package func job(_ id: JobID) -> JournalJob? {
        state.withLock { $0.book.job(id) }
    }

    /// The live jobs.
    package var liveJobs: [JobID] { state.withLock { $0.book.liveJobs } }

    /// How the live jobs of an app ended that have, and so where their files are or will be.
    package func finals(of app: String) -> [JournalFinal] { state.withLock { $0.book.finals(of: app) } }

    /// Why nothing can be written any more, if so.
    package var fault: SystemError? { state.withLock { $0.fault } }

    /// How long syncs took since the start, and how many bytes were written.
    package var figures: (syncTimes: Histogram, writtenByteCount: Int) {
        (state.withLock { $0.syncTimes }, writtenByteCount.load(ordering: .relaxed))
    }

    /// Ends the journal for an error beside it: a sync of the spool failed, and what the files have is not known.
    package func condemn(_ error: SystemError) {
        let waiters = state.withLock { state in
            state.fault = state.fault ?? error
            return state.syncing.takeWaiters(through: .max)
        }
        for waiter in waiters { waiter.resume(returning: .broken(error)) }
        wakeUp.signal()
    }

    /// Says after a failure that the daemon ends of its own accord: it has not died over what it was reading. Not if the file
    /// is not ours any more.
    ///
    /// It is written behind what was added before, once and without a sync. Nothing rests on it: where it does not arrive, or
    /// what is before it is lost, the next daemon counts a death.
    package func takeLeave() {
        guard let fault, !fault.isStale else { return }
        // Who is in the middle of writing hangs; an end waits for nobody.
        _ = writing.withLockIfAvailable { isWhole in
            // The head of the region may be missing, without which this would go into one that still counts.
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

    /// Changes the book by records that count so much, and wakes who syncs them.
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

    /// Does something to the file; its failure is the end of the journal.
    private func breaking(_ body: (borrowing OpenFile) throws(SystemError) -> Void) throws(JournalFault) {
        do {
            try body(file)
        } catch {
            condemn(error)
            throw .broken(error)
        }
    }
}
