import CLinux
import Glibc

/// What came of asking for a read lease.
package enum ReadLease: Hashable, Sendable {
    /// Nobody on this host has the file open for writing; whoever tries now waits until the lease is given back, or
    /// for `/proc/sys/fs/lease-break-time` (45 s) at most.
    case granted
    /// Somebody has it open for writing, perhaps by another name, or mapped: it is not finished.
    case writerHasIt
    /// Nothing is known: not our file and no CAP_LEASE, or the filesystem has no leases.
    case unavailable
}

extension OpenFile {
    /// Asks for a read lease (fcntl(2), F_SETLEASE) on a file opened for reading. Does not wait.
    ///
    /// Blind to writers on other hosts: worth something on a local filesystem only. Breaking a lease raises SIGIO, which
    /// from the first call on is ignored in the whole process.
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

    /// Gives the lease back; without one this does nothing. Closing the file does the same.
    package borrowing func dropReadLease() {
        _ = clinux_set_lease(descriptor.rawValue, Int32(F_UNLCK))
    }
}

/// Done once: the default action of SIGIO is to end the process.
private let ignoringBreaks: Void = clinux_ignore_lease_breaks()
