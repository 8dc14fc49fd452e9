import Gateways
import LinuxIO
import PushModel
import ServiceProcess

/// Sends notifications through a gateway as the daemon does, tokens decoded from hexadecimal text included, and counts
/// what becomes of them.
///
/// Feeding and counting run on the reactor, beside the gateway, so that one core does everything.
actor GatewayRun {
    /// The one job that all belongs to.
    static let job = JobID(bits: 1)
    private static let batchCount = 1_024

    private let reactor: Reactor
    private let gateway: any PushGateway
    private let count: Int
    private let transport: Transport
    private let texts: TokenTexts
    private var report: Report

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Sends so many through a gateway.
    init(_ gateway: any PushGateway, _ count: Int, over transport: Transport, on reactor: Reactor) {
        self.gateway = gateway
        self.transport = transport
        self.texts = TokenTexts(transport)
        self.reactor = reactor
        self.count = count
        self.report = Report(count: count)
    }

    /// Sends everything, waits until every notification is settled and the connection closed, and says what that has cost.
    /// With a `book`, what becomes of notifications is recorded there.
    func measure(recordingIn book: OutcomeBook?) async throws -> Report {
        try await withThrowingTaskGroup { group in
            group.addTask { [gateway] in await gateway.run() }
            let (start, began) = (ProcessTimes.now(), BootClock.nanoseconds())
            group.addTask { try await self.feed() }
            if let book { group.addTask { try await book.run() } }
            try await settle(recordingIn: book)
            try await close()
            report.times = .now() - start
            report.wall = .nanoseconds(BootClock.nanoseconds() - began)
            group.cancelAll()
            return report
        }
    }

    /// Decodes tokens and submits them, batch after batch.
    private func feed() async throws {
        var attributes = Attributes(expiration: Expiration(epochSeconds: 2_000_000_000))
        attributes.addressKind = transport == .fcm ? .registrationToken : .deviceToken
        let header = Batch.Header(job: Self.job, attributes: attributes)
        let payload = Payload(bytes: transport.payload)
        var sent = 0
        while sent < count {
            let tokens = try texts.read(min(Self.batchCount, count - sent))
            try await gateway.submit([
                Batch(header: header, firstIndex: sent, addresses: tokens, payloads: .shared(payload))
            ])
            sent += tokens.count
        }
    }

    /// Counts outcomes until there is one for each notification.
    private func settle(recordingIn book: OutcomeBook?) async throws {
        for await event in gateway.events {
            switch event {
            case .settled(let settlements):
                report.count(settlements)
                try await book?.record(settlements)
            case .connected: report.connectionCount += 1
            case .disconnected(let end): report.faults.append(end.fault.message)
            case .stopped(let fault, _): throw Fault(description: fault.message)
            case .reopened, .withdrawn, .announcing, .paused, .troubled, .refusedJob, .resumed, .trying,
                .suspectEnvironment:
                continue
            }
            if report.isComplete { return }
        }
        throw Fault(description: "the gateway ended early")
    }

    private func close() async throws {
        await gateway.drain()
        while gateway.events.meter.connectionCount > 0 { try await reactor.sleep(for: .milliseconds(10)) }
    }
}
