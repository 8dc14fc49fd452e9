package import PushModel

/// The state of an app at its gateway, derived from the gateway's events in the order in which they happened.
///
/// Only events change it. A new configuration is also reported by an event, so a stop from before it cannot arrive after it.
package struct Acceptance: Sendable {
    /// Whether the gateway accepts notifications of the app.
    package enum Phase: Hashable, Sendable {
        /// The gateway accepts notifications, as far as is known.
        case open
        /// The gateway accepts none until the app is reconfigured or the pause ends. Jobs stay in `new/`. With
        /// `asksOthers`, the app tries again before that with any job that was not refused.
        case stopped(asksOthers: Bool)
        /// The app tries again with one notification at a time until one is accepted. `hasFreed`: whether notifications
        /// that back off were released for that.
        case asking(hasFreed: Bool)
    }

    /// The reason why no notification is accepted, since when, and the time of the next attempt, if known.
    package struct Trouble: Hashable, Sendable {
        /// The kinds of reasons.
        package enum Kind: Hashable, Sendable {
            /// The app is stopped, or tries again after a stop.
            case stop
            /// No connection can be opened, or it ends before it can be used.
            case unreachable
            /// The gateway answers but accepts nothing.
            case refused
        }

        /// The kind of reason.
        package let kind: Kind
        /// What the gateway or the connection says.
        package let fault: GatewayFault
        /// Since when.
        package let since: WallTime
        /// When the next attempt is.
        package var nextTry: WallTime?

        /// Describes the problem, to follow the app's name, with the remedy.
        package var words: String {
            let verb =
                switch kind {
                case .stop: "is stopped"
                case .unreachable: "cannot reach its gateway"
                case .refused: "cannot send"
                }
            return "\(verb): \(fault.message)" + (fault.hint.map { "; \($0)" } ?? "")
        }
    }

    /// Whether the gateway accepts notifications.
    package var phase = Phase.open
    /// Why it accepts none; `nil` if it does, as far as is known.
    package private(set) var trouble: Trouble?
    /// When the gateway last answered a notification.
    package private(set) var answeredAt: WallTime?
    /// Since when every check has found a notification without an answer.
    private var waitingSince: WallTime?

    /// Creates the state of an app of which nothing is known.
    package init() {}

    /// The longest time that a healthy gateway takes to answer.
    private static let patience = Duration.seconds(10)

    /// Since when the gateway has not answered waiting notifications; `nil` if that is less than `patience`.
    package func silentSince(at now: WallTime) -> WallTime? {
        guard let waitingSince else { return nil }
        let since = max(waitingSince, answeredAt ?? waitingSince)
        return since + Self.patience <= now ? since : nil
    }

    /// Records how many notifications have no answer.
    package mutating func note(inFlight count: Int, at now: WallTime) {
        waitingSince = count == 0 ? nil : waitingSince ?? now
    }

    /// Applies an event.
    package mutating func note(_ event: GatewayEvent, at now: WallTime) {
        switch event {
        case .stopped(let fault, let stop):
            phase = .stopped(asksOthers: stop.asksOthers)
            let since = trouble?.kind == .stop ? trouble?.since ?? now : now
            trouble = Trouble(kind: .stop, fault: fault, since: since, nextTry: now + stop.pause)
        case .trying:
            phase = .asking(hasFreed: false)
            trouble?.nextTry = nil
        case .resumed: (phase, trouble) = (.open, nil)
        case .settled(let settlements): note(settlements, at: now)
        case .connected: if trouble?.kind == .unreachable { trouble = nil }
        case .troubled(let fault, let pause): begin(.refused, fault, at: now, nextTry: pause.map { now + $0 })
        case .disconnected(let report) where report.pause > .zero:
            begin(.unreachable, report.fault, at: now, nextTry: now + report.pause)
        case .disconnected, .refusedJob, .reopened, .withdrawn, .announcing, .paused, .suspectEnvironment: break
        }
    }

    private mutating func note(_ settlements: [Settlement], at now: WallTime) {
        for settlement in settlements {
            switch settlement.outcome {
            case .accepted, .rejected:
                answeredAt = now
                if phase == .open, !isHeld(at: now) { trouble = nil }
                return
            case .expired, .unsent, .unknown: continue
            }
        }
    }

    /// Begins a problem, or updates the same one. During a stop, connection problems are ignored.
    /// Whether the gateway has asked the app to wait. What it answers to earlier requests meanwhile does not end that.
    private func isHeld(at now: WallTime) -> Bool {
        guard let trouble, trouble.kind == .refused, let nextTry = trouble.nextTry else { return false }
        return now < nextTry
    }

    private mutating func begin(_ kind: Trouble.Kind, _ fault: GatewayFault, at now: WallTime, nextTry: WallTime?) {
        guard trouble?.kind != .stop else { return }
        let since = trouble?.kind == kind ? trouble?.since ?? now : now
        trouble = Trouble(kind: kind, fault: fault, since: since, nextTry: nextTry)
    }
}
