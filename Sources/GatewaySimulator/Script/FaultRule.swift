/// One line of a script: when, and what.
struct FaultRule: Hashable, Sendable {
    /// When a rule fits. All conditions must hold; one that is `nil` always does.
    struct Trigger: Hashable, Sendable {
        /// Every so-manieth notification (or connection, for actions on connections).
        var every: Int?
        /// That one notification (or connection), counted from 1.
        var nth: Int?
        /// Whether `every` and `nth` count on each connection instead of over the whole run.
        var countsPerConnection = false
        /// How the token begins, one hexadecimal digit an element.
        var tokenDigits: [UInt8]?
        /// What the payload contains.
        var payloadText: [UInt8]?
        /// How many notifications the connection must have brought.
        var after: Int?
        /// Which connections, counted from 1.
        var connections: ClosedRange<Int>?
        /// How often the rule acts at most.
        var times: Int?
        /// How likely it is to act, 0 to 1.
        var probability: Double?
        /// Where the dice of `probability` start.
        var seed: UInt64 = 0

        /// Whether a condition needs a notification to look at.
        var looksAtNotification: Bool {
            every != nil || nth != nil || tokenDigits != nil || payloadText != nil
        }
    }

    var trigger = Trigger()
    var action: FaultAction

    /// When the rule is asked.
    var occasion: FaultAction.Occasion {
        if action.belongsToConnecting { return .connecting }
        return action.answersNotification || trigger.looksAtNotification ? .notification : .betweenNotifications
    }
}

extension FaultRule.Trigger {
    /// Whether the counting conditions hold for the `count`th.
    func fits(count: Int) -> Bool {
        if let nth, nth != count { return false }
        if let every, count % every != 0 { return false }
        return true
    }

    /// Whether the conditions on a notification's bytes hold.
    func fits(token: Span<UInt8>, payload: Span<UInt8>) -> Bool {
        if let tokenDigits, !token.begins(withDigits: tokenDigits) { return false }
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

    /// Whether `text` occurs.
    fileprivate func contains(_ text: [UInt8]) -> Bool {
        guard let first = text.first else { return true }
        guard count >= text.count else { return false }
        for start in 0...(count - text.count) where self[start] == first {
            if text.indices.allSatisfy({ self[start + $0] == text[$0] }) { return true }
        }
        return false
    }
}
