import Gateways
import PushModel
import ServiceProcess

/// The last answer with which the gateway refused a job as if the app were at fault.
struct GatewayRefusal {
    let fault: GatewayFault
    /// When the job asks again; `nil` if it does not wait, or only one of its notifications does.
    var until: WallTime?

    /// Why the job waits, and for how long: `refused: the gateway answered …; asks again in 12 s`; `nil` if it does not.
    var words: String? {
        guard let rest = until.map({ ($0 - .now).components.seconds }) else { return nil }
        return "refused: \(fault.message); asks again " + (rest > 0 ? "in \(rest) s" : "when the app can send")
    }

    /// How to fix it if it is the job's own fault.
    static let hint = "other jobs are sent meanwhile; if they are accepted, correct or cancel this one"
}
