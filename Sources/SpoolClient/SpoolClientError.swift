import LinuxIO

/// The spool could not be used.
public struct SpoolClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What could not be done, and the system's reason.
    public let message: String
    /// What to try, where that is known.
    public let hint: String?
    /// Whether what was passed is at fault, so that the same again does not help.
    public let isInputFault: Bool

    /// Message and hint in one line.
    public var description: String {
        hint.map { "\(message); \($0)" } ?? message
    }

    init(_ message: String, hint: String? = nil, isInputFault: Bool = false) {
        self.message = message
        self.hint = hint
        self.isInputFault = isInputFault
    }

    init(_ error: SystemError) {
        message = error.description
        isInputFault = false
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
