import APNSGateway

/// Whether an app's gateway takes anything, as its events tell in the order in which they happened.
///
/// Only events change it: another configuration is told by one, too, so that a stop from before it cannot come after it.
enum Standing: Equatable {
    /// The gateway takes what it gets.
    case sending
    /// It takes nothing until the app is configured anew or the time is up; jobs stay in `new/`.
    case stopped
    /// It asks again with one notification at a time until one is accepted. `hasFreed` is whether notifications that
    /// pause have been sent on their way for that.
    case asking(hasFreed: Bool)

    /// Takes an event.
    mutating func note(_ event: GatewayEvent) {
        switch event {
        case .stopped: self = .stopped
        case .trying: self = .asking(hasFreed: false)
        case .resumed: self = .sending
        case .settled, .reopened, .withdrawn, .announcing, .paused, .connected, .disconnected, .suspectEnvironment:
            break
        }
    }
}
