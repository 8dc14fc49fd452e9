import LinuxIO
import Logging

extension Daemon {
    /// Serves signals until one asks for the end, and ends when jobs are over or the time is up.
    func runSignals() async {
        let ear = SignalEar(reactor, signals)
        while !Task.isCancelled {
            switch await ear.next() {
            case .hangup: reload()
            case .terminate, .interrupt: return await drain(ear)
            case .user1, .user2: break
            case nil: return
            }
        }
    }

    /// Lets jobs under way come to their end; then what is on connections; a second signal ends it at once.
    private func drain(_ ear: SignalEar) async {
        isStopping = true
        logger.notice("stopping", metadata: [LogKey.limit: "\(drainLimit)"])
        for runner in runners.values { await runner.beginDraining() }
        let deadline = ContinuousClock.now + drainLimit
        await withTaskGroup { group in
            group.addTask { await self.awaitIdle(until: deadline) }
            group.addTask {
                while let signal = await ear.next() {
                    if signal == .terminate || signal == .interrupt { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
        for (name, runner) in runners {
            let count = await runner.activeCount
            guard count > 0 else { continue }
            logger.warning(
                "jobs stay in work/ and are sent again whole at the next start",
                metadata: [LogKey.app: "\(name)", LogKey.count: "\(count)"])
        }
    }

    private func awaitIdle(until deadline: ContinuousClock.Instant) async {
        while ContinuousClock.now < deadline, !Task.isCancelled {
            var isIdle = true
            for runner in runners.values where await !runner.isIdle { isIdle = false }
            if isIdle { return }
            try? await reactor.sleep(for: .milliseconds(20))
        }
    }
}
