import CLinux
import Glibc
import Synchronization

/// Reports changes in any number of directories (inotify(7)). A dedicated thread reads the events.
///
/// Notices are hints: events can be lost, duplicated or late, and changes by other hosts never appear. At most
/// `capacity` events wait for the consumer. When more arrive, or the kernel's queue overflows, they become one `.lost`,
/// after which the consumer must scan everything. Without events the thread never wakes up.
package final class DirectoryWatch: Sendable {
    private let descriptor: Descriptor
    private let wakeUp: EventCounter
    private let mailbox: Mailbox<Notice>
    private let watched = Mutex(Watched())

    private struct Watched {
        var tags: [Int32: Int] = [:]
        var numbers: [Int: Int32] = [:]
        var overflowCount = 0
        var thread: SystemThread?
    }

    /// How often the kernel's queue overflowed; `fs.inotify.max_queued_events` sets its size. A `.lost` follows each time.
    package var overflowCount: Int { watched.withLock(\.overflowCount) }

    /// Starts a watch without directories.
    ///
    /// - Throws: `WatchFault`: its hint for EMFILE names `fs.inotify.max_user_instances`. Poll instead.
    package init(capacity: Int = 4096) throws(WatchFault) {
        let number = clinux_inotify()
        guard number >= 0 else { throw WatchFault(.last("inotify_init1")) }
        descriptor = Descriptor(adopting: number)
        mailbox = Mailbox(capacity: capacity, overflow: .lost)
        do {
            wakeUp = try EventCounter()
        } catch {
            throw WatchFault(error)
        }
        try start()
    }

    /// Adds a directory to the watch. Its events carry `tag`, which the caller chooses and uses once.
    ///
    /// The directory is watched by its descriptor, not by its path, which another process could replace. Scan it afterwards.
    ///
    /// - Throws: `WatchFault`: its hint for ENOSPC names `fs.inotify.max_user_watches`. Poll this directory instead.
    package func add(_ directory: Directory, tag: Int, for interest: Interest) throws(WatchFault) {
        let path = "/proc/self/fd/\(directory.descriptor.rawValue)"
        let mask = interest.mask
        // Under the lock, so that the reading thread cannot see an event before its tag is registered.
        let failure: SystemError? = watched.withLock { watched in
            let number = unsafe inotify_add_watch(descriptor.rawValue, path, mask)
            guard number >= 0 else { return .last("inotify_add_watch", directory.path) }
            watched.tags[number] = tag
            watched.numbers[tag] = number
            return nil
        }
        if let failure { throw WatchFault(failure) }
    }

    /// Stops watching the directory with this tag. Ignores unknown tags.
    package func remove(tag: Int) {
        watched.withLock { watched in
            guard let number = watched.numbers.removeValue(forKey: tag), watched.tags[number] == tag else { return }
            watched.tags[number] = nil
            // Fails if the directory is gone and the kernel has removed the watch already.
            _ = inotify_rm_watch(descriptor.rawValue, number)
        }
    }

    /// Waits for the next notices. Returns all notices since the last call, in order.
    ///
    /// Only one consumer at a time.
    ///
    /// - Returns: `nil` after `stop()`, when the kernel's queue cannot be read any more, and when the calling task is
    ///   cancelled.
    package func next() async -> [Notice]? {
        await mailbox.take()
    }

    /// Ends the thread and waits for it. From now on `next()` returns `nil`.
    package func stop() {
        let thread = watched.withLock { watched in
            defer { watched.thread = nil }
            return watched.thread
        }
        mailbox.close()
        wakeUp.signal()
        thread?.join()
    }

    private func start() throws(WatchFault) {
        do {
            let thread = try SystemThread.start(name: "spool watch") { [self] in serve() }
            watched.withLock { $0.thread = thread }
        } catch {
            throw WatchFault(error)
        }
    }

    private func serve() {
        var block = [UInt8].readBuffer(byteCount: 65_536)
        while true {
            let ready = clinux_wait_readable(descriptor.rawValue, wakeUp.descriptor.rawValue)
            if ready < 0, errno == EINTR { continue }
            if ready < 0 || ready & 2 != 0 { return mailbox.close() }
            let count = unsafe read(descriptor.rawValue, &block, block.count)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else {
                // After a read error it is unknown which events are lost.
                mailbox.post([.lost])
                return mailbox.close()
            }
            mailbox.post(notices(in: block.prefix(count)))
        }
    }

    private func notices(in bytes: ArraySlice<UInt8>) -> [Notice] {
        var notices: [Notice] = []
        var rest = bytes
        while let event = RawWatchEvent(decoding: &rest) {
            guard let notice = notice(for: event), notice != notices.last else { continue }
            notices.append(notice)
        }
        return notices
    }

    private func notice(for event: RawWatchEvent) -> Notice? {
        if event.mask.contains(.overflow) {
            watched.withLock { $0.overflowCount += 1 }
            return .lost
        }
        let tag = watched.withLock { watched in
            let tag = watched.tags[event.number]
            if let tag, event.mask.contains(.ignored) {
                watched.tags[event.number] = nil
                watched.numbers[tag] = nil
            }
            return tag
        }
        // No tag: one of the last events of a directory that was removed from the watch.
        return tag.map { .event(Event(tag: $0, changes: event.mask, name: event.name)) }
    }
}
