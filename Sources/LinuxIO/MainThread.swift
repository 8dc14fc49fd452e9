import Glibc

/// The thread that the program was started with.
package enum MainThread {
    /// Waits for ever, with the calling thread's signals blocked as they are; another thread ends the process.
    package static func park() -> Never {
        while true { pause() }
    }
}
