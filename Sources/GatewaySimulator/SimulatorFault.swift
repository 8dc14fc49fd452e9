import LinuxIO

/// The reason why a simulator could not start or could not perform a request.
public struct SimulatorFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, in one sentence without a full stop.
    public let message: String
    /// A suggested remedy, if one is known.
    public let hint: String?

    /// The message alone.
    public var description: String { message }

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}

extension SimulatorFault {
    /// Creates the fault of a port that could not be opened, identified by its option of `pushspool simulate`.
    init(listening error: SystemError, option: String) {
        let isOfPort = error.isAddressInUse || error.isPermission
        self.init("\(option): \(error)", hint: isOfPort ? "choose another port, or 0 for any" : nil)
    }
}
