import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolStore

/// The unregistered tokens to which an app with `suppress` does not send; empty for other apps.
///
/// An error while reading or storing them does not stop the app: it is reported once, and the affected tokens are sent to.
final class SuppressionList {
    private let context: AppContext
    /// Whether the app's configuration asks for suppression.
    private var isWanted = false
    private var tokens: GoneTokens?
    private var isReading = false
    private var hasFailed = false
    /// How often the other nodes' tokens are read, in a cluster, and when next.
    private static let newsPause = Duration.seconds(2)
    private var nextNews = Moment.zero

    init(_ context: AppContext) {
        self.context = context
    }

    /// Whether tokens are suppressed.
    var isInUse: Bool { tokens != nil }

    /// Reads the tokens, one part at a time, or unloads them.
    func configure(isWanted: Bool) async {
        // The log has one writer. What it lacks costs a request each, whose answer is the same again.
        self.isWanted = isWanted && context.daemon.ownsState
        guard self.isWanted else {
            write()
            return tokens = nil
        }
        guard tokens == nil, !isReading else { return }
        isReading = true
        defer { isReading = false }
        do throws(SystemError) {
            let read = try GoneTokens(of: context.name, in: context.daemon.state)
            while try read.readOn() {
                // A stopping app sends nothing more.
                if context.lifecycle.isDraining { return }
                await context.files.worker.yield()
            }
            if self.isWanted { tokens = read }
            report(read)
        } catch {
            report(error)
        }
    }

    /// Splits batches into notifications to send and notifications to suppress because their token is unregistered. A
    /// token that was registered again later is sent to.
    ///
    /// - Parameters:
    ///   - batches: Notifications without an outcome.
    ///   - registrations: When their tokens were registered, by the index of the notification.
    /// - Returns: The notifications to send, and the outcomes of the others.
    func divide(_ batches: [Batch], _ registrations: [Int: WallTime]) -> (due: [Batch], suppressed: [Settlement]) {
        guard isInUse else { return (batches, []) }
        var (due, suppressed) = ([Batch](), [Settlement]())
        for batch in batches {
            // What reaches many devices is not gone from one.
            guard !batch.attributes.addressKind.isShared else {
                due.append(batch)
                continue
            }
            let kind = batch.attributes.addressKind
            var start = batch.indices.lowerBound
            for index in batch.indices {
                guard let since = goneSince(kind, batch.addressBytes(at: index), registrations[index]) else { continue }
                if start < index { due.append(batch[start..<index]) }
                start = index + 1
                suppressed.append(Settlement(batch[index..<start], .rejected(.suppressed(goneSince: since))))
            }
            let end = batch.indices.upperBound
            if start < end { due.append(batch[start..<end]) }
        }
        return (due, suppressed)
    }

    private func goneSince(
        _ kind: Address.Kind, _ bytes: ArraySlice<UInt8>, _ registeredAt: WallTime?
    ) -> WallTime? {
        do throws(SystemError) {
            return try tokens?.goneSince(kind, bytes, registeredAt: registeredAt)
        } catch {
            report(error)
            return nil
        }
    }

    /// Records the tokens that the gateway has reported as unregistered.
    func remember(_ settlement: Settlement) {
        guard isInUse, case .rejected(let refusal) = settlement.outcome, refusal.verdict == .gone,
            refusal.status != nil, !settlement.batch.attributes.addressKind.isShared
        else { return }
        let since = refusal.goneSince ?? .now
        for index in settlement.batch.indices { remember(settlement.batch.address(at: index), since: since) }
    }

    /// Records that an address is unregistered.
    func remember(_ address: Address, since: WallTime) {
        do throws(SystemError) {
            try tokens?.remember(address, goneSince: since)
        } catch {
            report(error)
        }
    }

    /// Writes the records, so that they survive the death of the process.
    func write() {
        do throws(SystemError) {
            try tokens?.write()
        } catch {
            report(error)
        }
    }

    /// Makes the written records survive a power loss. If that fails, the lost tokens will be reported again.
    func sync() async {
        guard let file = tokens?.takeUnsynced() else { return }
        do throws(SystemError) {
            try await context.files.archives.sync(file)
        } catch {
            report(error)
        }
    }

    /// Whether it is time to read which tokens other nodes have found unregistered.
    var wantsNews: Bool { isInUse && context.spool.isClustered && nextNews <= .now && !context.lifecycle.isDraining }

    /// Reads on in which tokens other nodes have found unregistered.
    func readNews() async {
        do throws(SystemError) {
            let hasMore = try tokens?.readNews(in: context.daemon.spool) == true
            nextNews = hasMore ? .now : .now + Self.newsPause
            await context.files.worker.yield()
        } catch {
            nextNews = .now + Self.newsPause
            report(error)
        }
    }

    /// Whether most of the token log is stale.
    var wantsRewriting: Bool { tokens?.wantsRewriting == true && !context.lifecycle.isDraining }

    /// Continues to rewrite the token log.
    func rewriteOn() async {
        do throws(SystemError) {
            try tokens?.rewriteOn()
            await context.files.worker.yield()
        } catch {
            report(error)
        }
    }

    private func report(_ tokens: GoneTokens) {
        context.logger.info("unregistered tokens are skipped", metadata: [LogKey.tokens: "\(tokens.count)"])
        guard let byteCount = tokens.uselessByteCount, byteCount > 0 else { return }
        let hint: Logger.MetadataValue = "a power loss can cause this; its tokens are sent to, and reported, again"
        context.logger.warning(
            "end of the log of unregistered tokens is damaged",
            metadata: [LogKey.bytes: "\(byteCount)", LogKey.hint: hint])
    }

    private func report(_ error: SystemError) {
        guard !hasFailed else { return }
        hasFailed = true
        let hint: Logger.MetadataValue = "check the folder gone/ in `state` and its disk; until then some are sent to"
        context.logger.error(
            "unregistered tokens cannot be saved or looked up",
            metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }
}

extension PushModel.Refusal {
    /// The refusal of a notification that was not sent because its token is unregistered.
    static func suppressed(goneSince time: WallTime) -> PushModel.Refusal {
        PushModel.Refusal(.suppressed, .gone, goneSince: time)
    }
}
