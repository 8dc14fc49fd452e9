package import Configuration
package import Document
import Gateways
import JobOperations
import LinuxIO
import Logging
import PushHTTP2
import PushModel
import ServiceProcess

/// Sends one notification of an app now, through the gateway code of the daemon, and waits for the answer.
///
/// The notification passes neither the spool nor the journal: after a crash nobody sends it again.
package struct DeliveryTrial: Sendable {
    private let app: ConfiguredApp
    private let daemon: DaemonConfiguration
    /// By which a door of the daemon's own spool recognizes it.
    private let mark: UInt32?

    /// Creates a trial of an app of this daemon, whose spool has the mark if it is known.
    package init(of app: ConfiguredApp, in daemon: DaemonConfiguration, mark: UInt32?) {
        (self.app, self.daemon, self.mark) = (app, daemon, mark)
    }

    /// Sends a notification with an alert. Blocks for the files of kept tokens.
    ///
    /// - Parameters:
    ///   - alert: The text that the device shows.
    ///   - token: The device token or registration token.
    ///   - timeout: How long to wait for the answer.
    /// - Returns: The answer, or why there is none.
    /// - Throws: `Refused` if no notification can be made of token and text: nothing was sent; `SystemError` if no thread or
    ///   descriptor is left.
    package func answer(to alert: String, for token: String, within timeout: Duration) async throws -> TrialAnswer {
        let check = JobCheck(for: app.listed, limits: daemon.limits)
        let (diagnostics, batches) = check.notifications(of: job(alert, token, timeout), id: .random())
        guard let batch = batches.first else { throw Refused(diagnostics: diagnostics) }
        let (reactor, worker) = (try Reactor(name: "test"), try WorkerThread(name: "tokens"))
        defer {
            reactor.stop()
            worker.stop()
        }
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let tokens = TokenSources(folder: keptTokens, worker: worker, reactor: reactor, logger: silent)
        let gateway = impatient(app.gateway((tokens, mark))).makeGateway(on: reactor, logger: silent)
        try await gateway.submit([batch])
        return try await withThrowingTaskGroup(of: TrialAnswer?.self) { group in
            group.addTask {
                await gateway.run()
                return nil
            }
            group.addTask { [hasIDs = app.configuration.http2 != nil] in
                for await event in gateway.events {
                    if let answer = TrialAnswer(event, hasIDs: hasIDs) { return answer }
                }
                return nil
            }
            group.addTask {
                try await reactor.sleep(for: timeout)
                return .none(within: timeout)
            }
            defer { group.cancelAll() }
            while let answer = try await group.next() { if let answer { return answer } }
            throw CancellationError()
        }
    }

    /// Why nothing was sent: the faults of the notification.
    package struct Refused: Error {
        /// The faults, with paths into the notification.
        package let diagnostics: [Diagnostic]
    }

    /// Returns the configuration with pauses that are longer than any timeout. The job gives up before they end, so that a
    /// gateway that asks to wait is an answer, with its reason.
    private func impatient(_ configuration: GatewayConfiguration) -> GatewayConfiguration {
        guard case .http2(var wire) = configuration else { return configuration }
        let never = BackOff(first: .seconds(86_400), ceiling: .seconds(86_400))
        (wire.pauses.later, wire.pauses.serverError) = (never, never)
        return .http2(wire)
    }

    private func job(_ alert: String, _ token: String, _ timeout: Duration) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("token", token)
        writer.member("alert", alert)
        // FCM's name of an accepted message is kept only then.
        writer.member("record", "all")
        writer.member("give_up_after", "\(max(1, timeout.components.seconds))s")
        writer.endObject()
        return writer.bytes
    }

    /// The daemon's folder of tokens, so that Apple does not see a new provider token for each trial. Without the daemon's
    /// rights a token is signed for this trial alone.
    private var keptTokens: Directory? {
        guard daemon.cluster == nil, let state = try? Directory.open(path: daemon.state),
            (try? state.status().owner) == Host.userID
        else { return nil }
        return try? TokenSources.openFolder(in: state)
    }
}
