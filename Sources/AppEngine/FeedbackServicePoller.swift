import APNSBinary
import Configuration
import Gateways
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolStore

/// Polls an app's feedback service, stores its data in `state`, and has the app's runner publish it.
///
/// Reading empties the service's list. So the bytes are synced to a file within a second of their arrival, with at most
/// one sync a second or per 64 KiB, off the thread that apps share. The file is read, and removed once its lines are
/// published. After a crash the next start publishes all of it again. Only one file exists at a time: the service is not
/// polled until it is published. Runs on the thread for the app's files, and yields it between pieces.
actor FeedbackServicePoller {
    private let runner: AppRunner
    private let limits: FeedbackService.Limits
    /// The free space on the volume of `state`.
    private var space: SpaceWatch

    /// Creates a poller that does nothing until `run`.
    ///
    /// - Parameters:
    ///   - runner: The app, which supplies the service and the interval, and publishes.
    ///   - limits: The limits of one reading.
    init(for runner: AppRunner, limits: FeedbackService.Limits = FeedbackService.Limits()) {
        (self.runner, self.limits) = (runner, limits)
        space = SpaceWatch(floor: SpaceFloor(byteCount: runner.daemon.configuration.freeSpace))
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { runner.daemon.files.worker.executor }

    private nonisolated var state: Directory { runner.daemon.state }
    private nonisolated var logger: Logger { runner.logger }

    /// Polls and publishes until the task is cancelled, or no service is configured and nothing is left to publish.
    @inline(never) func run() async {
        while !Task.isCancelled {
            let isAllOut = await publishKept()
            let app = await runner.app
            // The service is asked for each app by its own node's runner only.
            let service = runner.daemon.isStandIn ? nil : app.feedbackService
            guard service != nil || !isAllOut else { return }
            if let service, isAllOut, hasRoom(toBegin: true) {
                await ask(service)
                guard !Task.isCancelled else { return }
                await publishKept()
            }
            let pause = app.configuration.binary?.feedbackService?.every ?? AppConfiguration.FeedbackPolling.usualPause
            await runner.serviceWakeup.wait(until: .now + pause)
        }
    }

    private func ask(_ service: FeedbackService) async {
        do {
            let file = try KeptFeedback(app: runner.name, at: .now, in: state)
            let reading = FeedbackReading(reactor: runner.daemon.reactor)
            let ending = try await reading.read(service, within: limits) { try await self.keep($0, file) }
            report(ending)
        } catch is CancellationError {
            return
        } catch let fault as GatewayFault {
            logger.warning("feedback service failed", metadata: fault.metadata)
        } catch {
            logger.error("feedback cannot be saved", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Stores a piece durably, and returns whether there is space for another.
    private func keep(_ bytes: [UInt8], _ file: KeptFeedback) async throws(SystemError) -> Bool {
        try file.append(bytes)
        try await runner.daemon.files.archives.sync(file)
        return hasRoom(toBegin: false)
    }

    /// Whether the volume of `state` has enough free space.
    private func hasRoom(toBegin: Bool) -> Bool {
        do {
            let wasShort = space.isShort
            let room = try state.filesystemSpace()
            guard !space.mayClaim(with: room) else { return true }
            if !wasShort, toBegin {
                let hint: Logger.MetadataValue = "free up space on the volume of `state`, at least limits.free_space"
                logger.warning(
                    "feedback service is not polled: low disk space",
                    metadata: [LogKey.free: "\(room.freeByteCount) bytes", LogKey.hint: hint])
            }
        } catch {
            logger.error("free disk space cannot be determined", metadata: [LogKey.error: "\(error)"])
        }
        return false
    }

    private func report(_ ending: FeedbackService.Ending) {
        let reason: String
        switch ending {
        case .whole: return
        case .tooLong: reason = "its list is longer than \(limits.byteCount >> 20) MiB, the limit for one poll"
        case .tooSlow: reason = "its list did not end within \(limits.duration.components.seconds) s"
        case .noRoom: reason = "low disk space on the volume of `state`"
        }
        let hint: Logger.MetadataValue =
            "tokens read so far are published, others at the next poll; if this repeats, check the address"
        logger.warning(
            "feedback service was not read to its end", metadata: [LogKey.error: "\(reason)", LogKey.hint: hint])
    }

    // MARK: Publishing

    /// Publishes the stored data of the service.
    ///
    /// - Returns: Whether all of it is published.
    @discardableResult
    private func publishKept() async -> Bool {
        do throws(SystemError) {
            let names = try KeptFeedback.names(of: runner.name, in: state)
            for name in names {
                guard try await publish(name) else { return false }
                try state.unlink(name)
            }
            if !names.isEmpty { try state.sync(.state) }
            return true
        } catch {
            logger.error("saved feedback cannot be published", metadata: [LogKey.error: "\(error)"])
            return false
        }
    }

    /// Publishes a stored file, one group of tokens after another.
    ///
    /// - Returns: `false` if the task was cancelled before all of it was published.
    private func publish(_ name: [UInt8]) async throws(SystemError) -> Bool {
        let reader = try KeptFeedbackReader(name, in: state)
        var group = GoneTokenGroup()
        var (count, hasMore) = (0, true)
        while hasMore {
            hasMore = try reader.read(into: &group)
            if group.isFull || !hasMore && !group.isEmpty {
                let entries = group.takeAll()
                count += entries.count
                guard await runner.publish(entries) else { return false }
            }
            await runner.daemon.files.worker.yield()
        }
        if count > 0 { logger.notice("feedback received", metadata: [LogKey.count: "\(count)"]) }
        if reader.isCutOff {
            let hint: Logger.MetadataValue = "the service closed the connection within an entry, which is lost"
            logger.warning("feedback cut off", metadata: [LogKey.hint: hint])
        }
        return true
    }
}

/// Reads from the feedback service on the reactor.
private actor FeedbackReading {
    private let reactor: Reactor

    init(reactor: Reactor) {
        self.reactor = reactor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    func read(
        _ service: FeedbackService, within limits: FeedbackService.Limits,
        keep: @Sendable ([UInt8]) async throws -> Bool
    ) async throws -> FeedbackService.Ending {
        try await service.read(on: reactor, within: limits, keep: keep)
    }
}
