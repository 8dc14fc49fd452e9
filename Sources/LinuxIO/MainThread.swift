import Glibc

/// The thread that a program starts with.
package enum MainThread {
    /// Waits for ever; the program ends by exit(3) in another thread.
    ///
    /// A `main` that is `async` ends in libdispatch's sigsuspend(2) with an empty mask: whatever was blocked, the next
    /// SIGTERM kills the program. Here the mask stays as it is.
    package static func park() -> Never {
        while true { pause() }
    }
}
