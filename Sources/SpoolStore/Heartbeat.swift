import JournalModel
import LinuxIO
import PushModel
import Synchronization

/// Renews a node's lease, on a thread of its own: on a shared filesystem a call can block for many seconds, and nothing
/// else may wait for it.
final class Heartbeat: Sendable {
    private let journal: Journal
    private let lease: NodeLease
    private let wakeUp: EventCounter
    private let isEnding = Atomic(false)
    /// The mark that was written last; `nil` before the first.
    private let last = Mutex<JournalBeat?>(nil)

    /// Beats for the first time, and starts the thread. Blocks.
    ///
    /// - Throws: `JournalFault`: the journal is not ours any more; `SystemError`: no thread or descriptor is left.
    init(of journal: Journal, _ lease: NodeLease) throws {
        (self.journal, self.lease) = (journal, lease)
        wakeUp = try EventCounter()
        try beat()
        try SystemThread.start(name: "heartbeat") { [self] in run() }.detach()
    }

    /// Ends the thread, after a call that is under way. Does not wait for it.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        wakeUp.signal()
    }

    /// How often the lease is renewed in its length.
    private static let beatCount = 5

    private func run() {
        var next = ContinuousClock.now
        while !isEnding.load(ordering: .relaxed) {
            // After a call that took long, the next one is due at once, but only one.
            next = max(next + lease.length / Self.beatCount, .now)
            wakeUp.wait(until: next)
            if isEnding.load(ordering: .relaxed) { return }
            do throws(JournalFault) {
                try beat()
            } catch {
                return
            }
        }
    }

    private func beat() throws(JournalFault) {
        let start = Moment(nanoseconds: BootClock.nanoseconds())
        do throws(JournalFault) {
            try write(nil)
        } catch {
            lease.lose()
            throw error
        }
        lease.renew(from: start)
    }

    /// Marks the journal of a daemon that works alone, for nodes of a cluster that start. Blocks.
    ///
    /// - Throws: `JournalFault`: the journal is broken.
    static func noteAlone(in journal: Journal) throws(JournalFault) {
        let (number, time) = (UInt64(UInt32.random(in: 0 ... .max)), WallTime(nanoseconds: WallClock.nanoseconds()))
        let beat = JournalBeat(number: number, at: time, lease: .zero, end: .alone)
        try journal.breaking { (file) throws(SystemError) in
            try file.write(beat.bytes, at: JournalBeat.offset)
            try file.syncData()
        }
    }

    /// Tells the other nodes that this one has stopped, after the last beat. Blocks.
    ///
    /// - Parameter reason: How it ended.
    /// - Throws: `JournalFault`: the journal is not ours any more, or cannot be written.
    func part(_ reason: JournalBeat.End) throws(JournalFault) {
        end()
        lease.lose()
        try write(reason)
    }

    /// The mark that was written last.
    var mark: JournalBeat? { last.withLock { $0 } }

    /// Proves that the journal is still ours, and shows it to other nodes: checks the lock and the last mark, then writes
    /// and syncs the next one. Blocks; on a shared filesystem for many seconds.
    ///
    /// The lock alone proves nothing. NFS grants it again to a node that lost it, but never accepts another write
    /// through its descriptor. Where a server does, the mark of the node that had the lock meanwhile shows it.
    private func write(_ end: JournalBeat.End?) throws(JournalFault) {
        try journal.confirm()
        try last.withLock { (last) throws(JournalFault) in
            // A beat that had to wait must not follow the last one.
            if last?.end != nil { return }
            try journal.breaking { (file) throws(SystemError) in
                var bytes: [UInt8] = []
                _ = try file.read(JournalBeat.byteCount, at: JournalBeat.offset, appendingTo: &bytes)
                let found = JournalBeat(bytes: bytes)
                guard last == nil || found == last else { throw .stale("pread", file.path) }
                let number = found?.number ?? UInt64(UInt32.random(in: 0 ... .max))
                let time = WallTime(nanoseconds: WallClock.nanoseconds())
                let next = JournalBeat(number: number &+ 1, at: time, lease: lease.length, end: end)
                try file.write(next.bytes, at: JournalBeat.offset)
                try file.syncData()
                last = next
            }
        }
    }
}
