import LinuxIO
import Logging
import SpoolModel
import Synchronization

extension Daemon {
    /// Serves signals until one asks for the end, and ends when jobs are over or the time is up.
    ///
    /// A daemon that cannot hear them ends too, as if it had been asked to: it could not be stopped in good order later.
    func runSignals() async {
        let ear = SignalEar(reactor, signals)
        do {
            while let signal = try await ear.next() {
                switch signal {
                case .hangup: reload()
                case .terminate, .interrupt: return await drain(ear)
                case .user1, .user2: noteMeaningless(signal)
                }
            }
        } catch {
            signalFault = error
            let hint: Logger.MetadataValue = "start it again; see the limits on open files"
            logger.error("signals cannot be heard", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
            await drain(nil)
        }
    }

    private func noteMeaningless(_ signal: Signal) {
        let hint: Logger.MetadataValue = "HUP reads the configuration again, TERM ends the daemon"
        let metadata: Logger.Metadata = [LogKey.signal: "\(signal.name)", LogKey.hint: hint]
        logger.notice("signal means nothing here", metadata: metadata)
    }

    /// Lets jobs under way come to their end; a second signal leaves them at once.
    private func drain(_ ear: SignalEar?) async {
        isStopping = true
        let limit: Duration? = if let requestedStop { requestedStop.limit } else { drainLimit }
        logger.notice("stopping", metadata: [LogKey.limit: "\(limit?.description ?? "none")"])
        for runner in runners.values { runner.beginDraining() }
        tellStopping(within: drainLimit)
        statusBell.ring()
        let deadline = limit.map { ContinuousClock.now + $0 }
        await withTaskGroup { group in
            group.addTask { await self.awaitIdle(until: deadline) }
            if let ear { group.addTask { await self.awaitSecondSignal(ear) } }
            await group.next()
            group.cancelAll()
        }
    }

    /// How long apps may take to end: longer than a hook that must be killed, and than it takes to know that one is stuck; less
    /// than the minute that the service manager is told of.
    private static let endLimit = Duration.seconds(30)

    /// Ends all apps, and returns when they have recorded what their gateways settled. Those that hang cannot, and are waited
    /// for until they are known to be stuck, or the time is up.
    func endApps() async {
        let (ending, deadline) = (runners, ContinuousClock.now + Self.endLimit)
        while !answeringRunners.isEmpty || !attended.allSatisfy(isStuck), .now < deadline {
            for runner in runners.values { runner.stop() }
            await endBell.wait(until: min(deadline, .now + .seconds(1)))
        }
        for (name, runner) in ending where runners[name] == nil {
            let count = runner.shown.jobCount
            guard count > 0 else { continue }
            logger.warning(
                "jobs stay in work/, and the next start goes on with them",
                metadata: [LogKey.app: "\(name)", LogKey.jobs: "\(count)"])
        }
    }

    private func awaitSecondSignal(_ ear: SignalEar) async {
        do {
            while let signal = try await ear.next() {
                if signal == .terminate || signal == .interrupt { return }
            }
        } catch {
            logger.error("signals cannot be heard", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func awaitIdle(until deadline: ContinuousClock.Instant?) async {
        while deadline.map({ ContinuousClock.now < $0 }) ?? true, !Task.isCancelled {
            if answeringRunners.allSatisfy(\.isDrained) { return }
            try? await reactor.sleep(for: .milliseconds(20))
        }
    }
}
