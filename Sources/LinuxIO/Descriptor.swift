import Glibc
import Synchronization

/// Owns one open file descriptor and closes it when it goes out of scope.
///
/// Every descriptor of the program is opened close-on-exec, so no child process inherits one.
package struct Descriptor: ~Copyable, Sendable {
    /// The kernel's number; valid as long as this value lives. Never to be closed by anybody else.
    package let rawValue: Int32

    /// Takes over an open descriptor, which from now on nobody else may close.
    package init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "a descriptor is never negative")
        self.rawValue = rawValue
    }

    /// Takes over what a call has opened, if it has, and if that leaves the reserve of `OpenFileLimit.raise(keeping:)`.
    ///
    /// - Parameters:
    ///   - number: what the call returned: below 0 if it failed, with errno as the call left it.
    ///   - operation: the call's name.
    ///   - subject: what it was called on.
    /// - Throws: `SystemError`: the call's own; EMFILE when it leaves too few descriptors: then it is closed.
    init(
        opened number: Int32, _ operation: String, _ subject: @autoclosure () -> String = ""
    ) throws(SystemError) {
        guard number >= 0 else { throw .last(operation, subject()) }
        guard number < OpenFileLimit.ceiling.load(ordering: .relaxed) else {
            _ = close(number)
            throw SystemError(code: EMFILE, operation: operation, subject: subject())
        }
        self.init(adopting: number)
    }

    deinit {
        // Linux releases the number even when close(2) fails, so there is nothing to retry.
        _ = close(rawValue)
    }

    /// Gives up ownership: the caller closes the returned number, or hands it on.
    package consuming func relinquish() -> Int32 {
        let released = rawValue
        discard self
        return released
    }

    /// Closes now and says what close(2) said: on some filesystems (NFS, FUSE) it reports a failed write.
    ///
    /// - Throws: `SystemError`; the descriptor is gone all the same, and what was written last may be lost.
    package consuming func closeNow(_ subject: @autoclosure () -> String = "") throws(SystemError) {
        let released = relinquish()
        guard close(released) == 0 else { throw .last("close", subject()) }
    }

    /// A second descriptor for the same open file (dup3 with close-on-exec).
    ///
    /// - Throws: `SystemError`, usually EMFILE: the process has no descriptor left.
    package borrowing func duplicate() throws(SystemError) -> Descriptor {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
        return try Descriptor(opened: copy, "fcntl", "F_DUPFD_CLOEXEC")
    }
}
