import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Reads which tokens are gone, if they are not to be sent to; or lets go of them.
    ///
    /// Without them everything is sent: what cannot be read is no reason to send nothing.
    func prepareSuppression() async {
        guard app.suppress else {
            writeGone()
            return gone = nil
        }
        guard gone == nil, !isReadingGone else { return }
        isReadingGone = true
        defer { isReadingGone = false }
        do throws(SystemError) {
            let tokens = try GoneTokens(of: name, in: around.state)
            while try tokens.readOn() {
                // Nothing is sent before a stop any more.
                if isDraining { return }
                await files.worker.yield()
            }
            if app.suppress { gone = tokens }
            report(tokens)
        } catch {
            reportGone(error)
        }
    }

    /// What is left of batches without tokens that are gone; those get their outcome. A token that was registered later is
    /// not gone any more.
    ///
    /// - Parameters:
    ///   - batches: What has no outcome yet.
    ///   - registrations: When their tokens were registered, by the index of the notification.
    /// - Returns: What is to be sent.
    func withoutGone(_ batches: [Batch], _ registrations: [Int: WallTime]) -> [Batch] {
        var rest: [Batch] = []
        for batch in batches {
            var start = batch.indices.lowerBound
            for index in batch.indices {
                guard let since = goneSince(batch.token(at: index), registrations[index]) else { continue }
                if start < index { rest.append(batch[start..<index]) }
                start = index + 1
                settle(Settlement(batch[index..<start], .rejected(.suppressed(goneSince: since))))
            }
            let end = batch.indices.upperBound
            if start < end { rest.append(batch[start..<end]) }
        }
        return rest
    }

    private func goneSince(_ token: ArraySlice<UInt8>, _ registeredAt: WallTime?) -> WallTime? {
        do throws(SystemError) {
            return try gone?.goneSince(token, registeredAt: registeredAt)
        } catch {
            reportGone(error)
            return nil
        }
    }

    /// Remembers the tokens that the gateway has said to be gone.
    func rememberGone(_ settlement: Settlement) {
        guard case .rejected(let refusal) = settlement.outcome, refusal.verdict == .gone, refusal.status != nil else {
            return
        }
        let since = refusal.goneSince ?? .now
        for index in settlement.batch.indices { rememberGone(settlement.batch.token(at: index), since: since) }
    }

    /// Remembers that a token is gone.
    func rememberGone(_ token: ArraySlice<UInt8>, since: WallTime) {
        do throws(SystemError) {
            try gone?.remember(token, goneSince: since)
        } catch {
            reportGone(error)
        }
    }

    /// Writes what is remembered, so that the death of the process loses none of it.
    func writeGone() {
        do throws(SystemError) {
            try gone?.write()
        } catch {
            reportGone(error)
        }
    }

    /// Makes what was written outlive the machine. If that fails, nothing is lost that is not reported again.
    func syncGone() async {
        guard let file = gone?.takeUnsynced() else { return }
        do throws(SystemError) {
            try await files.archives.sync(file)
        } catch {
            reportGone(error)
        }
    }

    /// Whether most of what is written of tokens says nothing any more.
    var mustRewriteGone: Bool { gone?.wantsRewriting == true && !isDraining && !isBroken }

    /// Goes on with writing it anew.
    func rewriteGone() async {
        do throws(SystemError) {
            try gone?.rewriteOn()
            await files.worker.yield()
        } catch {
            reportGone(error)
        }
    }

    private func report(_ tokens: GoneTokens) {
        logger.info("tokens that are gone are not sent to", metadata: [LogKey.tokens: "\(tokens.count)"])
        guard let byteCount = tokens.uselessByteCount, byteCount > 0 else { return }
        let hint: Logger.MetadataValue = "a power loss may do that; its tokens are sent to, and reported, again"
        logger.warning(
            "the end of the log of tokens that are gone is of no use",
            metadata: [LogKey.bytes: "\(byteCount)", LogKey.hint: hint])
    }

    /// Once: everything else goes on.
    private func reportGone(_ error: SystemError) {
        guard !isGoneBroken else { return }
        isGoneBroken = true
        let hint: Logger.MetadataValue = "see to the folder gone/ in state, and to its disk; some are sent to meanwhile"
        logger.error(
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
