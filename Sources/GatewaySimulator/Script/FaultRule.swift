/// One rule of a script: its conditions and its action.
struct FaultRule: Hashable, Sendable {
    /// The conditions of a rule. All must hold; a condition that is `nil` always holds.
    struct Trigger: Hashable, Sendable {
        /// Matches every n-th notification (or connection, for actions on connections).
        var every: Int?
        /// Matches a single notification (or connection), counted from 1.
        var nth: Int?
        /// Whether `every` and `nth` count on each connection instead of over the whole run.
        var countsPerConnection = false
        /// The port; `nil` means all ports but that of the token endpoint.
        var port: Port?
        /// The leading hexadecimal digits of the token, one per element.
        var tokenDigits: [UInt8]?
        /// The leading bytes of an address that is text, such as FCM's.
        var addressText: [UInt8]?
        /// The bytes that the payload must contain.
        var payloadText: [UInt8]?
        /// The number of notifications that must have arrived on the connection.
        var after: Int?
        /// The connections, counted from 1.
        var connections: ClosedRange<Int>?
        /// The maximum number of times that the rule acts.
        var times: Int?
        /// The probability that the rule acts, 0 to 1.
        var probability: Double?
        /// The seed of the random numbers for `probability`.
        var seed: UInt64 = 0

        /// Whether a condition depends on a notification.
        var looksAtNotification: Bool {
            every != nil || nth != nil || tokenDigits != nil || addressText != nil || payloadText != nil
        }
    }

    var trigger = Trigger()
    var action: FaultAction

    /// The occasion on which the rule is checked.
    var occasion: FaultAction.Occasion {
        if action.belongsToConnecting { return .connecting }
        return action.answersNotification || trigger.looksAtNotification ? .notification : .betweenNotifications
    }

    /// Whether the rule may act on a port.
    func applies(to port: Port) -> Bool {
        action.ports.contains(port) && (trigger.port.map { $0 == port } ?? (port != .oauth))
    }
}

extension FaultRule.Trigger {
    /// Whether the counting conditions hold for the notification or connection with this number.
    func fits(count: Int) -> Bool {
        if let nth, nth != count { return false }
        if let every, count % every != 0 { return false }
        return true
    }

    /// Whether the conditions on a notification's bytes hold.
    func fits(token: Span<UInt8>, payload: Span<UInt8>) -> Bool {
        if let tokenDigits, !token.begins(withDigits: tokenDigits) { return false }
        if let addressText, !token.begins(with: addressText) { return false }
        if let payloadText, !payload.contains(payloadText) { return false }
        return true
    }
}

extension Span<UInt8> {
    /// Whether the bytes, written in hexadecimal, begin with these digits.
    fileprivate func begins(withDigits digits: [UInt8]) -> Bool {
        guard digits.count <= count * 2 else { return false }
        for (index, digit) in digits.enumerated() {
            let byte = self[index / 2]
            guard digit == (index % 2 == 0 ? byte >> 4 : byte & 0xF) else { return false }
        }
        return true
    }

    /// Whether the bytes begin with `text`.
    fileprivate func begins(with text: [UInt8]) -> Bool {
        text.count <= count && text.indices.allSatisfy { self[$0] == text[$0] }
    }

    /// Whether the bytes contain `text`.
    fileprivate func contains(_ text: [UInt8]) -> Bool {
        guard let first = text.first else { return true }
        guard count >= text.count else { return false }
        for start in 0...(count - text.count) where self[start] == first {
            if text.indices.allSatisfy({ self[start + $0] == text[$0] }) { return true }
        }
        return false
    }
}
