import LinuxIO
import Logging

/// The resources that the ports of one simulator share.
struct SimulatorResources: Sendable {
    let reactor: Reactor
    let contexts: ServerContexts
    let logger: Logger
    let state: GatewayState
    let manner: FeedbackManner
    let ledgerFile: LedgerFile?
}
