import LinuxIO

/// An error in accessing the spool.
public struct SpoolClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failed operation and the system's reason.
    public let message: String
    /// A suggested remedy, if one is known.
    public let hint: String?
    /// Whether an argument was invalid, so that repeating the call does not help.
    public let isInputFault: Bool

    /// Whether the job may have been dropped all the same, so that dropping it again may send it twice.
    public let mayBeDropped: Bool

    /// The message without the path, which has a random name.
    package let cause: String

    /// The message and the hint in one line.
    public var description: String {
        hint.map { "\(message); \($0)" } ?? message
    }

    init(_ message: String, hint: String? = nil, isInputFault: Bool = false, mayBeDropped: Bool = false) {
        (self.message, cause) = (message, message)
        self.hint = hint
        (self.isInputFault, self.mayBeDropped) = (isInputFault, mayBeDropped)
    }

    init(_ error: SystemError) {
        (message, cause) = (error.description, error.cause)
        (isInputFault, mayBeDropped) = (false, false)
        hint =
            if let remedy = error.readOnlyRemedy {
                remedy
            } else if error.isRefusal {
                "run as a member of the group that owns the app's new/"
            } else if error.isNoDirectory || error.isSymbolicLink {
                "the app's folder and the folders in it must be folders, not files or links; move them back"
            } else if error.isStale {
                "the app's folder was moved, replaced or removed meanwhile; nothing was dropped: submit the job again"
            } else if error.isNotFound {
                "check the spool's path and the app's name; the daemon creates an app's folders when it starts"
            } else if error.isOutOfSpace {
                "free some space, and submit the job again"
            } else if error.isOtherFilesystem {
                "keep both folders on one filesystem, without separate mounts or subvolumes"
            } else {
                nil
            }
    }
}

/// Runs `body` and converts its system errors.
func translating<Result: ~Copyable>(
    _ body: () throws(SystemError) -> Result
) throws(SpoolClientError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw SpoolClientError(error)
    }
}
