import SpoolModel
import SpoolStore
import Synchronization

extension AppRunner {
    /// Leaves word of what the app is doing, for a status that is written without asking it: it may hang.
    func show() {
        let app = status
        let isNews = shown.withLock { shown in
            defer { shown = app }
            return shown.state != app.state || (shown.jobCount == 0) != (app.jobCount == 0)
        }
        if isNews { around.statusBell.ring() }
    }

    private var status: SpoolStatus.App {
        let state: SpoolStatus.AppState =
            switch standing {
            case _ where isDraining: .ending
            case .stopped: .stopped
            case .asking: .asking
            case .sending: space.isShort ? .full : .sending
            }
        var status = SpoolStatus.App(name: name, state: state)
        status.jobCount = activeCount
        status.gateway = "\(app.endpoint)"
        return status
    }
}
