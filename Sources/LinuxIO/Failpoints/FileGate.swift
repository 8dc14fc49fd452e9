import CLinux
import Glibc

/// What every file operation of `Directory` and `OpenFile` passes on its way to the kernel.
///
/// In debug builds it counts, fails, kills and records as the `FailPlan` in force says. In release builds it is the
/// system call and nothing else.
enum FileGate {
    #if FAILPOINTS
        /// Makes one system call, unless the plan in force has another idea.
        ///
        /// - Parameters:
        ///   - operation: what it is.
        ///   - subject: what it is done to, beginning with a path.
        ///   - change: what it changed, asked after a success.
        ///   - body: the call; negative is failure, told by errno, which is kept.
        /// - Returns: what the call returned.
        /// - Throws: `SystemError`: what the plan made of it instead.
        static func call<Result: SignedInteger & Sendable>(
            _ operation: FileOperation, _ subject: @autoclosure () -> String,
            change: (Result) -> FileChange? = { _ in nil }, _ body: () -> Result
        ) throws(SystemError) -> Result {
            guard let plan = FailPlan.inForce(for: subject()) else { return body() }
            do {
                try plan.pass(operation, subject())
            } catch {
                // Linux closes the file whatever it says of it.
                if operation == .close { _ = body() }
                throw error
            }
            return plan.recording(change, body)
        }

        /// Whether the plan in force leaves this sync out.
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
        /// Makes one system call, and never throws.
        @inline(__always)
        static func call<Result: SignedInteger & Sendable>(
            _: FileOperation, _: @autoclosure () -> String, change: (Result) -> FileChange? = { _ in nil },
            _ body: () -> Result
        ) throws(SystemError) -> Result {
            body()
        }

        /// Never: release builds leave out no sync.
        @inline(__always)
        static func isElided(_: SyncSite, _: @autoclosure () -> String) -> Bool { false }

        /// Asked by records only, which release builds do not make.
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
