import APNSBinary

/// A script and how far it has come: what all connections of a gateway count together.
struct ScriptRun: Sendable {
    private let rules: [FaultRule]
    private var progress: [Progress]
    private let looksAtNotifications: Bool
    private let looksBetween: Bool
    /// How many notifications were judged, on all connections.
    private var notificationCount = 0

    fileprivate struct Progress {
        var actCount = 0
        var dice: UInt64
    }

    /// Starts a script from its first line, with all counts at nothing.
    init(_ script: FaultScript) {
        rules = script.rules
        progress = rules.map { Progress(dice: $0.trigger.seed) }
        looksAtNotifications = rules.contains { $0.occasion == .notification }
        looksBetween = rules.contains { $0.occasion == .betweenNotifications }
    }

    /// What is to happen to the connection of this number, which was just accepted; numbers count from 1.
    mutating func connecting(_ connection: Int) -> FaultAction? {
        first(.connecting, on: connection) { $0.fits(count: connection) }
    }

    /// What is to happen on a connection that has brought `count` notifications, before it brings another.
    mutating func pausing(after count: Int, on connection: Int) -> FaultAction? {
        guard looksBetween else { return nil }
        return first(.betweenNotifications, on: connection) { ($0.after ?? 0) == count }
    }

    /// What is to happen to a notification, the `count`th of its connection.
    mutating func arrived(
        _ frame: NotificationFrame, of bytes: Span<UInt8>, count: Int, on connection: Int
    ) -> FaultAction? {
        notificationCount += 1
        guard looksAtNotifications else { return nil }
        for index in rules.indices where rules[index].occasion == .notification {
            let trigger = rules[index].trigger
            guard trigger.fits(count: trigger.countsPerConnection ? count : notificationCount),
                count > trigger.after ?? 0,
                trigger.fits(token: frame.token, payload: frame.payload, of: bytes),
                acts(index, on: connection)
            else { continue }
            return rules[index].action
        }
        return nil
    }

    private mutating func first(
        _ occasion: FaultAction.Occasion, on connection: Int, where fits: (FaultRule.Trigger) -> Bool
    ) -> FaultAction? {
        for index in rules.indices
        where rules[index].occasion == occasion && fits(rules[index].trigger) && acts(index, on: connection) {
            return rules[index].action
        }
        return nil
    }

    /// Asks the conditions that all occasions share, and notes that the rule acts if they hold.
    private mutating func acts(_ index: Int, on connection: Int) -> Bool {
        let trigger = rules[index].trigger
        if let connections = trigger.connections, !connections.contains(connection) { return false }
        if let times = trigger.times, progress[index].actCount >= times { return false }
        if let probability = trigger.probability, progress[index].throwDice() >= probability { return false }
        progress[index].actCount += 1
        return true
    }
}

extension ScriptRun.Progress {
    /// A number from 0 up to but not including 1 (SplitMix64, so that a seed gives the same run everywhere).
    fileprivate mutating func throwDice() -> Double {
        dice &+= 0x9E37_79B9_7F4A_7C15
        var mixed = dice
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) / Double(UInt64(1) << 53)
    }
}
