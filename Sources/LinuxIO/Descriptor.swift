import Glibc
import Synchronization

/// Owns one open file descriptor and closes it when it goes out of scope.
///
/// Every descriptor of the program is opened close-on-exec, so no child process inherits one.
package struct Descriptor: ~Copyable, Sendable {
    /// The kernel's number, valid as long as this value lives. No other code may close it.
    package let rawValue: Int32

    /// Takes over an open descriptor. From now on only this value may close it.
    package init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "a descriptor is never negative")
        self.rawValue = rawValue
    }

    /// Takes over the result of a call that opens a descriptor, if it succeeded and leaves the reserve of
    /// `OpenFileLimit.raise(keeping:)` free.
    ///
    /// - Parameters:
    ///   - number: the result of the call: below 0 if it failed, with errno still set.
    ///   - operation: the name of the call.
    ///   - subject: the object of the call.
    /// - Throws: `SystemError`: the error of the call; EMFILE if it would leave too few descriptors, after closing the
    ///   new one.
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
        // Linux releases the number even if close(2) fails, so there is nothing to retry.
        _ = close(rawValue)
    }

    /// Gives up ownership. The caller must close the returned number or pass it on.
    package consuming func relinquish() -> Int32 {
        let released = rawValue
        discard self
        return released
    }

    /// Closes now and reports the result of close(2). On some filesystems (NFS, FUSE) close reports a failed write.
    ///
    /// - Throws: `SystemError`. The descriptor is closed all the same, and the last writes may be lost.
    package consuming func closeNow(_ subject: @autoclosure () -> String = "") throws(SystemError) {
        let released = relinquish()
        guard close(released) == 0 else { throw .last("close", subject()) }
    }

    /// Returns a second descriptor for the same open file (F_DUPFD_CLOEXEC).
    ///
    /// - Throws: `SystemError`, usually EMFILE: the process has no descriptor left.
    package borrowing func duplicate() throws(SystemError) -> Descriptor {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
        return try Descriptor(opened: copy, "fcntl", "F_DUPFD_CLOEXEC")
    }
}
