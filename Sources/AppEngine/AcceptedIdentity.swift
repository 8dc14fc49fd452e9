import Configuration
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolStore

/// When the gateway last accepted the app's present credentials, also before the daemon started.
final class AcceptedIdentity {
    private let context: AppContext
    private var last: LastAcceptance

    init(_ app: ConfiguredApp, _ context: AppContext) {
        self.context = context
        last = LastAcceptance(of: app.name, app.identity, in: context.daemon.markFolder)
        note { (last) throws(SystemError) in try last.load(at: .now) }
    }

    /// The time on the clock of pauses; `nil` if it is not known that the gateway ever accepted them.
    var moment: Moment? { last.time.map { .now + min(.zero, $0 - .now) } }

    /// Uses another configuration, which may have other credentials.
    func configure(_ app: ConfiguredApp) { last.use(app.identity) }

    /// Notes the acceptances among these outcomes.
    func note(_ settlements: [Settlement]) {
        guard settlements.contains(where: { $0.outcome == .accepted }) else { return }
        note { (last) throws(SystemError) in try last.note(at: .now) }
    }

    private func note(_ change: (inout LastAcceptance) throws(SystemError) -> Void) {
        do throws(SystemError) {
            try change(&last)
        } catch {
            context.logger.warning(
                "last acceptance by the gateway is not kept; after a restart, refusals may stop the app for longer",
                metadata: [LogKey.path: "\(last.path)", LogKey.error: "\(error)"])
        }
    }
}
