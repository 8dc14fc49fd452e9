import LinuxIO

/// The spool could not be used.
public struct SpoolClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What could not be done, and the system's reason.
    public let message: String
    /// What to try, where that is known.
    public let hint: String?

    /// Message and hint in one line.
    public var description: String {
        hint.map { "\(message); \($0)" } ?? message
    }

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    init(_ error: SystemError) {
        message = error.description
        hint =
            if error.isRefusal {
                "run as a member of the group that the app's new/ belongs to"
            } else if error.isNotFound {
                "check the spool's path and the app's name; the daemon makes an app's folders when it starts"
            } else if error.isOutOfSpace {
                "free some space and submit again"
            } else if error.isOtherFilesystem {
                "keep both folders on one filesystem, without a mount or subvolume of their own"
            } else {
                nil
            }
    }
}

/// Runs `body` and translates what the system says.
func translating<Result: ~Copyable>(
    _ body: () throws(SystemError) -> Result
) throws(SpoolClientError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw SpoolClientError(error)
    }
}
