import APNSGateway
import APNSModel

/// What an app's gateway makes of it, as its events tell in the order in which they happened.
///
/// Only events change it: another configuration is told by one, too, so that a stop from before it cannot come after it.
struct Standing {
    /// Whether the gateway takes the app.
    enum Phase: Equatable {
        /// It takes what it gets, as far as is known.
        case open
        /// It takes nothing until the app is configured anew or the time is up; jobs stay in `new/`.
        case stopped
        /// It asks again with one notification at a time until one is accepted. `hasFreed` is whether notifications that
        /// pause have been sent on their way for that.
        case asking(hasFreed: Bool)
    }

    /// What keeps notifications from being accepted, since when, and when there is another try, if that is known.
    struct Trouble: Equatable {
        enum Kind: Equatable {
            /// The app is stopped, or asks again.
            case stop
            /// No connection comes about, or it ends before it is of use.
            case unreachable
            /// The gateway answers, and takes nothing.
            case refused
        }

        let kind: Kind
        let fault: GatewayFault
        let since: WallTime
        var nextTry: WallTime?

        /// It in words behind the app's name, with what a person can do about it.
        var words: String {
            let verb =
                switch kind {
                case .stop: "is stopped"
                case .unreachable: "cannot reach its gateway"
                case .refused: "gets nothing through"
                }
            return "\(verb): \(fault.message)" + (fault.hint.map { "; \($0)" } ?? "")
        }
    }

    var phase = Phase.open
    private(set) var trouble: Trouble?
    /// When the gateway last answered a notification.
    private(set) var answeredAt: WallTime?
    /// Since when there was always a notification without an answer, as far as anybody has looked.
    private var waitingSince: WallTime?

    /// How long a gateway that is well takes for an answer at most.
    private static let patience = Duration.seconds(10)

    /// Since when the gateway lets notifications wait for an answer, if that is long.
    func silentSince(at now: WallTime) -> WallTime? {
        guard let waitingSince else { return nil }
        let since = max(waitingSince, answeredAt ?? waitingSince)
        return since + Self.patience <= now ? since : nil
    }

    /// Takes how many notifications have no answer.
    mutating func note(inFlight count: Int, at now: WallTime) {
        waitingSince = count == 0 ? nil : waitingSince ?? now
    }

    /// Takes an event, with how long a stop lasts.
    mutating func note(_ event: GatewayEvent, at now: WallTime, stopPause: Duration) {
        switch event {
        case .stopped(let fault):
            phase = .stopped
            trouble = Trouble(kind: .stop, fault: fault, since: now, nextTry: now + stopPause)
        case .trying:
            phase = .asking(hasFreed: false)
            trouble?.nextTry = nil
        case .resumed: (phase, trouble) = (.open, nil)
        case .settled(let settlements): note(settlements, at: now)
        case .connected: if trouble?.kind == .unreachable { trouble = nil }
        case .troubled(let fault): begin(.refused, fault, at: now, nextTry: nil)
        case .disconnected(let report) where report.pause > .zero:
            begin(.unreachable, report.fault, at: now, nextTry: now + report.pause)
        case .disconnected, .reopened, .withdrawn, .announcing, .paused, .suspectEnvironment: break
        }
    }

    private mutating func note(_ settlements: [Settlement], at now: WallTime) {
        for settlement in settlements {
            switch settlement.outcome {
            case .accepted, .rejected:
                answeredAt = now
                if phase == .open { trouble = nil }
                return
            case .expired, .unsent, .unknown: continue
            }
        }
    }

    /// A stop outlasts what is told of connections meanwhile; the same trouble goes on.
    private mutating func begin(_ kind: Trouble.Kind, _ fault: GatewayFault, at now: WallTime, nextTry: WallTime?) {
        guard trouble?.kind != .stop else { return }
        let since = trouble?.kind == kind ? trouble?.since ?? now : now
        trouble = Trouble(kind: kind, fault: fault, since: since, nextTry: nextTry)
    }
}
