import APNSBinary
import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel

extension AppRunner {
    /// Asks the feedback service from time to time, until the task is cancelled.
    ///
    /// Reading empties the service's list, so the bytes are synced to a file in `state` as they come. That file is read
    /// and removed when its lines are out; a later start finds what a crash has left.
    func runFeedbackService() async {
        await publishKeptFeedback()
        while !Task.isCancelled {
            guard let service = identity.feedbackService else {
                await serviceBell.wait()
                continue
            }
            await ask(service)
            await serviceBell.wait(until: .now + app.feedbackEvery)
        }
    }

    private func ask(_ service: FeedbackService) async {
        do {
            let file = try KeptFeedback(app: name, at: .now, in: around.state)
            try await FeedbackReading(reactor: around.reactor).read(service) { try await self.keep($0, file) }
        } catch is CancellationError {
            return
        } catch let fault as GatewayFault {
            logger.warning("feedback service failed", metadata: fault.metadata)
        } catch {
            logger.error("feedback cannot be kept", metadata: [LogKey.error: "\(error)"])
        }
        await publishKeptFeedback()
    }

    private func keep(_ bytes: [UInt8], _ file: KeptFeedback) throws(SystemError) {
        try file.append(bytes)
    }

    /// Publishes what was read from the service and is still kept.
    private func publishKeptFeedback() async {
        do {
            let kept = try KeptFeedback.all(of: name, in: around.state)
            guard !kept.isEmpty else { return }
            for file in kept { appendTokens(of: file) }
            await publishLines()
            guard lines.isEmpty else { return }
            for file in kept { try around.state.unlink(file.name) }
            try around.state.sync(.state)
        } catch {
            logger.error("kept feedback cannot be published", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func appendTokens(of file: (name: [UInt8], bytes: [UInt8])) {
        var offset = 0
        var goneSince: [DeviceToken: UInt32] = [:]
        var order: [DeviceToken] = []
        while let tuple = FeedbackTuple(decoding: file.bytes.span.extracting(offset...)) {
            offset += tuple.encodedByteCount
            if goneSince[tuple.token] == nil { order.append(tuple.token) }
            goneSince[tuple.token] = max(goneSince[tuple.token] ?? 0, tuple.epochSeconds)
        }
        for token in order where !token.bytes.isEmpty {
            let time = WallTime(epochSeconds: Int64(goneSince[token] ?? 0))
            writer.appendToken(token, goneSince: time, to: &lines)
            if gone != nil { rememberGone(token.bytes[...], since: time) }
        }
        if !order.isEmpty { logger.notice("feedback received", metadata: [LogKey.count: "\(order.count)"]) }
        if offset < file.bytes.count {
            let hint: Logger.MetadataValue = "the service broke off in the middle of an entry, which is lost"
            logger.warning("feedback cut off", metadata: [LogKey.hint: hint])
        }
    }
}

/// Runs the reading of the feedback service on the reactor.
private actor FeedbackReading {
    private let reactor: Reactor

    init(reactor: Reactor) {
        self.reactor = reactor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    func read(_ service: FeedbackService, keep: @Sendable ([UInt8]) async throws -> Void) async throws {
        try await service.read(on: reactor, keep: keep)
    }
}

/// The bytes of one reading of the feedback service, in a file that outlives the daemon.
final class KeptFeedback: Sendable {
    private let folder: Directory
    private let name: [UInt8]
    private let file: OpenFile

    /// Makes an empty file for one reading.
    ///
    /// - Throws: `SystemError`: do not ask the service, what it says could not be kept.
    init(app: String, at time: WallTime, in folder: Directory) throws(SystemError) {
        self.folder = folder
        self.name = Array("feedback-\(app)-\(time.compact).raw".utf8)
        self.file = try folder.create(name, mode: 0o600)
        try folder.sync(.state)
    }

    /// Adds bytes and syncs them.
    ///
    /// - Throws: `SystemError`: read no more from the service.
    func append(_ bytes: [UInt8]) throws(SystemError) {
        try file.write(bytes)
        try file.syncData(.state)
    }

    /// Returns what is kept of an app, the oldest first. Empty files are removed.
    ///
    /// - Throws: `SystemError`: the folder cannot be read; try again later.
    static func all(of app: String, in folder: Directory) throws(SystemError) -> [(name: [UInt8], bytes: [UInt8])] {
        let (prefix, suffix) = (Array("feedback-\(app)-".utf8), Array(".raw".utf8))
        var kept: [(name: [UInt8], bytes: [UInt8])] = []
        for name in try folder.names() where name.starts(with: prefix) && name.suffix(4).elementsEqual(suffix) {
            // A longer name of another app may begin with this one's.
            guard name.count == prefix.count + 23 + suffix.count else { continue }
            // However long it is: the service has forgotten what is in it.
            let bytes = try folder.contents(of: name, limit: 1 << 40) ?? []
            if bytes.isEmpty { try folder.unlink(name) } else { kept.append((name, bytes)) }
        }
        return kept.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }
}
