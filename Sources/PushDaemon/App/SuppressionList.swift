import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// The tokens that are gone, which an app with `suppress` does not send to; empty for an app without.
///
/// What cannot be read or kept is no reason to send nothing: it is reported once, and everything is sent.
final class SuppressionList {
    private let context: AppContext
    /// Whether the app is configured to have one.
    private var isWanted = false
    private var tokens: GoneTokens?
    private var isReading = false
    private var hasFailed = false

    init(_ context: AppContext) {
        self.context = context
    }

    /// Whether tokens are left out.
    var isInUse: Bool { tokens != nil }

    /// Reads which tokens are gone, a part at a time, or lets go of them.
    func configure(isWanted: Bool) async {
        self.isWanted = isWanted
        guard isWanted else {
            write()
            return tokens = nil
        }
        guard tokens == nil, !isReading else { return }
        isReading = true
        defer { isReading = false }
        do throws(SystemError) {
            let read = try GoneTokens(of: context.name, in: context.daemon.state)
            while try read.readOn() {
                // Nothing is sent before a stop any more.
                if context.lifecycle.isDraining { return }
                await context.files.worker.yield()
            }
            if self.isWanted { tokens = read }
            report(read)
        } catch {
            report(error)
        }
    }

    /// What may be sent of batches, and what may not because its token is gone. A token that was registered later is not
    /// gone any more.
    ///
    /// - Parameters:
    ///   - batches: What has no outcome yet.
    ///   - registrations: When their tokens were registered, by the index of the notification.
    /// - Returns: What is to be sent, and the outcomes of the rest.
    func divide(_ batches: [Batch], _ registrations: [Int: WallTime]) -> (due: [Batch], suppressed: [Settlement]) {
        guard isInUse else { return (batches, []) }
        var (due, suppressed) = ([Batch](), [Settlement]())
        for batch in batches {
            var start = batch.indices.lowerBound
            for index in batch.indices {
                guard let since = goneSince(batch.token(at: index), registrations[index]) else { continue }
                if start < index { due.append(batch[start..<index]) }
                start = index + 1
                suppressed.append(Settlement(batch[index..<start], .rejected(.suppressed(goneSince: since))))
            }
            let end = batch.indices.upperBound
            if start < end { due.append(batch[start..<end]) }
        }
        return (due, suppressed)
    }

    private func goneSince(_ token: ArraySlice<UInt8>, _ registeredAt: WallTime?) -> WallTime? {
        do throws(SystemError) {
            return try tokens?.goneSince(token, registeredAt: registeredAt)
        } catch {
            report(error)
            return nil
        }
    }

    /// Remembers the tokens that the gateway has said to be gone.
    func remember(_ settlement: Settlement) {
        guard isInUse, case .rejected(let refusal) = settlement.outcome, refusal.verdict == .gone, refusal.status != nil
        else { return }
        let since = refusal.goneSince ?? .now
        for index in settlement.batch.indices { remember(settlement.batch.token(at: index), since: since) }
    }

    /// Remembers that a token is gone.
    func remember(_ token: ArraySlice<UInt8>, since: WallTime) {
        do throws(SystemError) {
            try tokens?.remember(token, goneSince: since)
        } catch {
            report(error)
        }
    }

    /// Writes what is remembered, so that the death of the process loses none of it.
    func write() {
        do throws(SystemError) {
            try tokens?.write()
        } catch {
            report(error)
        }
    }

    /// Makes what was written outlive the machine. If that fails, nothing is lost that is not reported again.
    func sync() async {
        guard let file = tokens?.takeUnsynced() else { return }
        do throws(SystemError) {
            try await context.files.archives.sync(file)
        } catch {
            report(error)
        }
    }

    /// Whether most of what is written of tokens says nothing any more.
    var wantsRewriting: Bool { tokens?.wantsRewriting == true && !context.lifecycle.isDraining }

    /// Goes on with writing it anew.
    func rewriteOn() async {
        do throws(SystemError) {
            try tokens?.rewriteOn()
            await context.files.worker.yield()
        } catch {
            report(error)
        }
    }

    private func report(_ tokens: GoneTokens) {
        context.logger.info("tokens that are gone are not sent to", metadata: [LogKey.tokens: "\(tokens.count)"])
        guard let byteCount = tokens.uselessByteCount, byteCount > 0 else { return }
        let hint: Logger.MetadataValue = "a power loss may do that; its tokens are sent to, and reported, again"
        context.logger.warning(
            "the end of the log of tokens that are gone is of no use",
            metadata: [LogKey.bytes: "\(byteCount)", LogKey.hint: hint])
    }

    private func report(_ error: SystemError) {
        guard !hasFailed else { return }
        hasFailed = true
        let hint: Logger.MetadataValue = "see to the folder gone/ in state, and to its disk; some are sent to meanwhile"
        context.logger.error(
            "tokens that are gone cannot be kept or looked up",
            metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }
}

extension APNSModel.Refusal {
    /// What was not sent because its token is gone.
    static func suppressed(goneSince time: WallTime) -> APNSModel.Refusal {
        APNSModel.Refusal(status: nil, reason: "Suppressed", verdict: .gone, goneSince: time)
    }
}
