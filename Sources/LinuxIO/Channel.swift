/// A non-blocking descriptor on a reactor, and the place to wait for it. Closes the descriptor when it goes.
///
/// Belongs to one actor on the reactor, which alone may call it.
package final class Channel {
    let descriptor: Descriptor
    /// Where its owner waits; the same one as `wait` and `wake` use.
    package let waiter: Waiter

    /// Takes over a non-blocking descriptor.
    ///
    /// - Throws: `SystemError`: EPERM for a descriptor that is always ready (a plain file), or a limit is reached;
    ///   the descriptor is closed then.
    package init(_ descriptor: consuming Descriptor, on reactor: Reactor) throws(SystemError) {
        waiter = try Waiter(on: reactor, watching: descriptor.rawValue)
        self.descriptor = descriptor
    }

    deinit {
        waiter.unwatch(descriptor)
    }
}
