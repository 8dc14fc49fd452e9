import APNSBinary
import PushModel
import TestSupport

/// What the gateway of a model run did, over all its connections.
struct Ledger {
    var accepted: [Name] = []
    var refusalCounts: [Name: Int] = [:]
}

/// How a gateway treats one connection.
struct Manners {
    enum Naming { case identifier, zero, unissued }

    var naming = Naming.identifier
    /// Every how many notifications, on average, it fails on a good one; 0 for never.
    var failureInterval = 0
    /// After how many acceptances it shuts down.
    var shutdown: Int?
    var isRefusingConnection = false
    /// Whether only a part of its reply arrives before the end.
    var isCuttingReply = false
    /// Milliseconds from a refusal to the reply.
    var latency: Range<Int64> = 0..<4_000
}

/// A gateway's end of one connection: accepts in order, refuses by token, then throws away what it reads.
struct ModelGateway {
    let manners: Manners
    let isBad: @Sendable (Name) -> Bool
    /// Whether it has stopped accepting, and is about to close.
    private(set) var isClosing = false
    /// What it says before that; `nil` for a bare close.
    private(set) var reply: ErrorReply?
    private var acceptedCount = 0

    init(manners: Manners, isBad: @escaping @Sendable (Name) -> Bool) {
        (self.manners, self.isBad) = (manners, isBad)
    }

    mutating func read(_ record: [UInt8], into ledger: inout Ledger, using random: inout SeededGenerator) throws {
        for (frame, token) in try frames(of: record) where !isClosing {
            guard let name = Name(token: token) else {
                close(.missingDeviceToken, frame)
                continue
            }
            if isBad(name) {
                refuse(name, .invalidToken, frame, &ledger)
            } else if manners.failureInterval > 0, Int.random(in: 0..<manners.failureInterval, using: &random) == 0 {
                refuse(
                    name, [.processingError, .protocolError, .unknown].randomElement(using: &random) ?? .unknown, frame,
                    &ledger)
            } else {
                accept(name, frame, &ledger)
            }
        }
    }

    private mutating func accept(_ name: Name, _ frame: NotificationFrame, _ ledger: inout Ledger) {
        ledger.accepted.append(name)
        acceptedCount += 1
        if acceptedCount == manners.shutdown { close(.shutdown, frame) }
    }

    private mutating func refuse(_ name: Name, _ status: Status, _ frame: NotificationFrame, _ ledger: inout Ledger) {
        ledger.refusalCounts[name, default: 0] += 1
        close(status, frame)
    }

    private mutating func close(_ status: Status, _ frame: NotificationFrame) {
        isClosing = true
        guard let identifier = frame.identifier else { return }
        switch manners.naming {
        case .identifier: reply = ErrorReply(status: status, identifier: identifier)
        case .zero: reply = ErrorReply(status: status, identifier: 0)
        case .unissued: reply = ErrorReply(status: status, identifier: identifier ^ 0x4000_0000)
        }
    }
}

/// One connection of a model run: the machine, what is on its way, and the gateway.
struct ModelLink {
    var machine: PipelineMachine
    var gateway: ModelGateway
    /// Written, and not yet read by the gateway.
    var records: [(bytes: [UInt8], end: UInt64)] = []
    var written: UInt64 = 0
    var delivered: UInt64 = 0
    /// When the gateway's end of the connection reaches us.
    var closing: Moment?
    /// How much of the reply has reached us.
    var receivedByteCount = 0
    var identifiers: Set<UInt32> = []

    var replyBytes: [UInt8] {
        var bytes: [UInt8] = []
        gateway.reply?.encode(to: &bytes)
        return bytes
    }

    /// The gateway reads the oldest record.
    mutating func deliver(into ledger: inout Ledger, at now: Moment, using random: inout SeededGenerator) throws {
        guard !records.isEmpty, !gateway.manners.isRefusingConnection else { return }
        let record = records.removeFirst()
        delivered = record.end
        try gateway.read(record.bytes, into: &ledger, using: &random)
        if gateway.isClosing, closing == nil {
            closing = now + .milliseconds(Int64.random(in: gateway.manners.latency, using: &random))
        }
    }
}
