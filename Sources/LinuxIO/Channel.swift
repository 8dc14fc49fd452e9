import Glibc

/// A non-blocking descriptor on a reactor, with its waiter. Closes the descriptor on deinit.
///
/// Belongs to one actor on the reactor. Only that actor may call it.
package final class Channel {
    let descriptor: Descriptor
    /// Where the owner waits for the descriptor and is woken.
    package let waiter: Waiter

    /// Takes over a non-blocking descriptor.
    ///
    /// - Throws: `SystemError`: EPERM for a descriptor that is always ready (a regular file), or a limit is reached.
    ///   The descriptor is closed then.
    package init(_ descriptor: consuming Descriptor, on reactor: Reactor) throws(SystemError) {
        waiter = try Waiter(on: reactor, watching: descriptor.rawValue)
        self.descriptor = descriptor
    }

    /// Waits until the descriptor becomes readable, for one that a library reads itself: each event ends one wait.
    ///
    /// Look at the library's state after every wait. An event that came since the last wait ends this one at once.
    ///
    /// - Returns: As `Waiter.wait`.
    package func waitForNews(until deadline: ContinuousClock.Instant? = nil) async -> Readiness {
        let found = await waiter.wait(for: .readable, until: deadline)
        if found.contains(.readable) { waiter.noteExhausted(.readable) }
        return found
    }

    /// Waits until the descriptor is readable, for one that a library reads itself and may not read to its end: asks the
    /// kernel first, and then lets other tasks have a turn.
    ///
    /// - Returns: As `Waiter.wait`.
    package func waitUntilReadable(until deadline: ContinuousClock.Instant? = nil) async -> Readiness {
        var query = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&query, 1, 0) > 0 else { return await waitForNews(until: deadline) }
        await waiter.yield()
        return Task.isCancelled ? [.readable, .cancelled] : .readable
    }

    deinit {
        waiter.unwatch(descriptor)
    }
}
