import LinuxIO

/// Why a simulator could not start, or could not do what it was asked to.
public struct SimulatorFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, in one sentence without a full stop.
    public let message: String
    /// What a person can do about it, where anything is known to help.
    public let hint: String?

    /// The message alone.
    public var description: String { message }

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}

extension SimulatorFault {
    /// Why there is no listening on a port, which is told by the option of `pushspool simulate` that names it.
    init(listening error: SystemError, option: String) {
        let isOfPort = error.isAddressInUse || error.isPermission
        self.init("\(option): \(error)", hint: isOfPort ? "choose another port, or 0 for any" : nil)
    }
}
