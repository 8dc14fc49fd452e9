import CLinux
import Glibc

/// The gate that every file operation of `Directory` and `OpenFile` passes on its way to the kernel.
///
/// In debug builds it counts, fails, kills and records according to the installed `FailPlan`. In release builds it
/// makes the system call only.
enum FileGate {
    #if FAILPOINTS
        /// Makes one system call, unless the installed plan makes it fail.
        ///
        /// - Parameters:
        ///   - operation: the kind of operation.
        ///   - subject: the object of the call, beginning with a path.
        ///   - change: returns the change for the record, called after a success.
        ///   - body: the call. A negative result means failure with errno set; errno is preserved.
        /// - Returns: the result of the call.
        /// - Throws: `SystemError`: the failure that the plan injected instead.
        static func call<Result: SignedInteger & Sendable>(
            _ operation: FileOperation, _ subject: @autoclosure () -> String,
            change: (Result) -> FileChange? = { _ in nil }, _ body: () -> Result
        ) throws(SystemError) -> Result {
            guard let plan = FailPlan.inForce(for: subject()) else { return body() }
            guard let code = plan.failure(of: operation) else { return plan.recording(change, body) }
            // Linux closes the file even if close(2) reports an error.
            if operation == .close { _ = body() }
            throw SystemError(code: code, operation: operation.rawValue, subject: subject())
        }

        /// Whether the installed plan leaves this sync out.
        static func isElided(_ site: SyncSite, _ subject: @autoclosure () -> String) -> Bool {
            FailPlan.inForce(for: subject())?.elided.contains(site) ?? false
        }

        /// The inode of an open file, for records.
        static func inode(_ descriptor: Int32) -> UInt64 {
            var raw = stat()
            let status = unsafe fstat(descriptor, &raw)
            precondition(status == 0, "fstat of an open file")
            return UInt64(raw.st_ino)
        }
    #else
        /// Makes one system call; never throws.
        @inline(__always)
        static func call<Result: SignedInteger & Sendable>(
            _: FileOperation, _: @autoclosure () -> String, change: (Result) -> FileChange? = { _ in nil },
            _ body: () -> Result
        ) throws(SystemError) -> Result {
            body()
        }

        /// Always `false`: release builds perform every sync.
        @inline(__always)
        static func isElided(_: SyncSite, _: @autoclosure () -> String) -> Bool { false }

        /// Always 0: only records need the inode, and release builds make none.
        @inline(__always)
        static func inode(_: Int32) -> UInt64 { 0 }
    #endif
}

/// Repeats a system call for as long as signals interrupt it.
@inline(__always)
func uninterrupted(_ call: () -> Int32) -> Int32 {
    var status = call()
    while status < 0, errno == EINTR { status = call() }
    return status
}
