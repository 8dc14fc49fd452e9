import CLinux
import Glibc

/// The result of requesting a read lease.
package enum ReadLease: Hashable, Sendable {
    /// No process on this host has the file open for writing. A process that now tries to open it for writing waits
    /// until the lease is released, for at most `/proc/sys/fs/lease-break-time` (45 s).
    case granted
    /// A process has the file open for writing, perhaps by another name, or mapped: the file is not finished.
    case writerHasIt
    /// Unknown: the file belongs to another user and CAP_LEASE is missing, or the filesystem has no leases.
    case unavailable
}

extension OpenFile {
    /// Requests a read lease (fcntl(2), F_SETLEASE) on a file opened for reading. Does not wait.
    ///
    /// Does not detect writers on other hosts, so it is useful on a local filesystem only. Breaking a lease raises
    /// SIGIO, which the whole process ignores from the first call on.
    package borrowing func takeReadLease() -> ReadLease {
        _ = ignoringBreaks
        do {
            let number = descriptor.rawValue
            if try FileGate.call(.lease, path, { clinux_set_lease(number, Int32(F_RDLCK)) }) == 0 { return .granted }
            return errno == EAGAIN ? .writerHasIt : .unavailable
        } catch {
            return .unavailable
        }
    }

    /// Releases the lease, if there is one. Closing the file has the same effect.
    package borrowing func dropReadLease() {
        _ = clinux_set_lease(descriptor.rawValue, Int32(F_UNLCK))
    }
}

/// Evaluated once. The default action of SIGIO would end the process.
private let ignoringBreaks: Void = clinux_ignore_lease_breaks()
