/// A script and its progress, which all connections of a gateway share.
struct ScriptRun: Sendable {
    private let rules: [FaultRule]
    private var progress: [Progress]
    private let looksAtNotifications: Bool
    private let looksBetween: Bool
    /// The number of notifications judged on all connections.
    private var notificationCount = 0

    fileprivate struct Progress {
        var actCount = 0
        var dice: SplitMix
    }

    /// Starts a script with all counts at zero. Rules for other ports are omitted.
    init(_ script: FaultScript, on port: Port) {
        rules = script.rules.filter { $0.applies(to: port) }
        progress = rules.map { Progress(dice: SplitMix(seed: $0.trigger.seed)) }
        looksAtNotifications = rules.contains { $0.occasion == .notification }
        looksBetween = rules.contains { $0.occasion == .betweenNotifications }
    }

    /// Returns the action for a connection that was just accepted. Connections are numbered from 1.
    mutating func connecting(_ connection: Int) -> FaultAction? {
        first(.connecting, on: connection) { $0.fits(count: connection) }
    }

    /// Returns the action for a connection on which `count` notifications have arrived, before the next one.
    mutating func pausing(after count: Int, on connection: Int) -> FaultAction? {
        guard looksBetween else { return nil }
        return first(.betweenNotifications, on: connection) { ($0.after ?? 0) == count }
    }

    /// Returns the action for a notification, the `count`th on its connection.
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

    /// Checks the conditions common to all occasions and, if they hold, counts an action of the rule.
    private mutating func acts(_ index: Int, on connection: Int) -> Bool {
        let trigger = rules[index].trigger
        if let connections = trigger.connections, !connections.contains(connection) { return false }
        if let times = trigger.times, progress[index].actCount >= times { return false }
        if let probability = trigger.probability, progress[index].dice.fraction() >= probability { return false }
        progress[index].actCount += 1
        return true
    }
}
