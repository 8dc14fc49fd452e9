import CLinux
import Glibc

/// The machine and this process.
package enum Host {
    /// The host's name up to its first dot (gethostname(2)); `localhost` if it has none.
    package static var name: String {
        var bytes = [CChar](repeating: 0, count: 256)
        let code = unsafe gethostname(&bytes, bytes.count - 1)
        guard code == 0 else { return "localhost" }
        let name = bytes.prefix { $0 != 0 && $0 != 0x2E }.map { UInt8(bitPattern: $0) }
        return name.isEmpty ? "localhost" : String(decoding: name, as: UTF8.self)
    }

    /// The number of processors that this process may use (sched_getaffinity(2)); 1 if there are more than 1,024.
    package static var processorCount: Int { Int(clinux_processor_count()) }

    /// The process id of this process.
    package static var processID: Int32 { getpid() }

    /// Returns blocks of memory from 2 MiB on to the kernel as soon as they are freed (mallopt(3)).
    ///
    /// By default glibc does so only until the first such block is freed: then it keeps all of up to that size, 32 MiB
    /// at most, and a table that has grown leaves its earlier copies behind. From 1 MiB on, buffers of long jobs would cost
    /// a tenth more processor time. Call it before there are threads.
    package static func returnLargeBlocks() { clinux_map_blocks_from(2 << 20) }

    /// The working directory (getcwd(3)); `nil` if it has been removed.
    package static var workingFolder: String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let found = unsafe getcwd(&bytes, bytes.count)
        guard unsafe found != nil else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The effective user id (geteuid(2)).
    package static var userID: UInt32 { geteuid() }

    /// Returns a user as messages show it: `weather (1001)`, or `1001` if the system knows no name.
    package static func userText(_ number: UInt32) -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe clinux_user_name(number, &name, name.count) == 1 else { return "\(number)" }
        return "\(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)) (\(number))"
    }

    /// Returns the id of a group, given by name or number; `nil` if no group has that name.
    ///
    /// - Throws: `SystemError`: the system's group database cannot be read.
    package static func groupID(of group: String) throws(SystemError) -> UInt32? {
        if let number = UInt32(group) { return number }
        var number: UInt32 = 0
        let found = unsafe clinux_group(group, &number)
        guard found >= 0 else { throw .last("getgrnam_r", group) }
        return found > 0 ? number : nil
    }

    /// Requires that this process may create and remove entries of a folder (access(2)). Creates none.
    ///
    /// - Throws: `SystemError`: ENOENT, ENOTDIR, EACCES, EROFS.
    package static func requireWritable(_ folder: String) throws(SystemError) {
        guard unsafe faccessat(AT_FDCWD, folder + "/.", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .last("faccessat", folder)
        }
    }

    /// Waits until a process has exited. It need not be a child.
    ///
    /// - Returns: Whether it exited within `limit`.
    /// - Throws: `SystemError`: it cannot be watched.
    package static func awaitEnd(of process: Int32, within limit: Duration) throws(SystemError) -> Bool {
        let number = clinux_process_descriptor(process)
        guard number >= 0 else {
            guard errno == ESRCH else { throw .last("pidfd_open", "\(process)") }
            return true
        }
        let descriptor = Descriptor(adopting: number)
        let deadline = ContinuousClock.now + limit
        while true {
            let (seconds, attoseconds) = max(.zero, ContinuousClock.now.duration(to: deadline)).components
            let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            let found = clinux_wait_readable_until(descriptor.rawValue, Int32(clamping: milliseconds))
            if found < 0, errno == EINTR { continue }
            guard found >= 0 else { throw .last("poll", "\(process)") }
            return found > 0
        }
    }

    /// Sends this process a signal, as kill(1) would.
    package static func signal(_ signal: Signal) {
        // A process may always send itself a valid signal.
        _ = kill(getpid(), signal.number)
    }

    /// Parks the calling thread for the lifetime of the program. Signal handlers may still run on it.
    package static func park() -> Never {
        while true { pause() }
    }

    /// Ends the program, once the lines for standard error are written or two seconds have passed.
    ///
    /// Other threads may be at work, and one whose filesystem hung may go on at this moment. `exit` would destroy what they
    /// use, OpenSSL's tables and the objects of C++ libraries among it, and the program would abort.
    package static func leave(with status: Int32) -> Never {
        StandardStream.flushErrors()
        _exit(status)
    }
}
