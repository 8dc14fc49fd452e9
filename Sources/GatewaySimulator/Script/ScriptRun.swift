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
        var dice: SplitMix
    }

    /// Starts a script from its first line, with all counts at nothing. Rules for other protocols are left out.
    init(_ script: FaultScript, over protocol: FaultAction.WireProtocol = .binary) {
        rules = script.rules.filter { $0.action.protocols.contains(`protocol`) }
        progress = rules.map { Progress(dice: SplitMix(seed: $0.trigger.seed)) }
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
        token: Span<UInt8>, payload: Span<UInt8>, count: Int, on connection: Int
    ) -> FaultAction? {
        notificationCount += 1
        guard looksAtNotifications else { return nil }
        for index in rules.indices where rules[index].occasion == .notification {
            let trigger = rules[index].trigger
            guard trigger.fits(count: trigger.countsPerConnection ? count : notificationCount),
                count > trigger.after ?? 0,
                trigger.fits(token: token, payload: payload),
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
        if let probability = trigger.probability, progress[index].dice.fraction() >= probability { return false }
        progress[index].actCount += 1
        return true
    }
}
