import APNSBinary
import PushModel
import Testing

/// What becomes of the notification a status names, when ten are in doubt and the fifth is named.
struct StatusTests {
    /// A status and what follows from it.
    struct Row: Sendable, CustomTestStringConvertible {
        let status: UInt8
        let reason: String
        let failureClass: FailureClass
        let fate: Fate
        var testDescription: String { "status \(status)" }
    }

    enum Fate: Hashable, Sendable {
        case accepted
        case rejected(Verdict)
        case sentAgain
        /// Sent again with its job, which is suspended.
        case suspended
    }

    static let rows = [
        Row(status: 0, reason: "NoError", failureClass: .retryNow, fate: .accepted),
        Row(status: 1, reason: "ProcessingError", failureClass: .serverError, fate: .sentAgain),
        Row(status: 2, reason: "MissingDeviceToken", failureClass: .token, fate: .rejected(.invalid)),
        Row(status: 3, reason: "MissingTopic", failureClass: .app, fate: .suspended),
        Row(status: 4, reason: "PayloadEmpty", failureClass: .message, fate: .rejected(.message)),
        Row(status: 5, reason: "InvalidTokenSize", failureClass: .token, fate: .rejected(.invalid)),
        Row(status: 6, reason: "InvalidTopicSize", failureClass: .app, fate: .suspended),
        Row(status: 7, reason: "PayloadTooLarge", failureClass: .message, fate: .rejected(.message)),
        Row(status: 8, reason: "BadDeviceToken", failureClass: .token, fate: .rejected(.invalid)),
        Row(status: 9, reason: "Status9", failureClass: .serverError, fate: .sentAgain),
        Row(status: 10, reason: "Shutdown", failureClass: .retryNow, fate: .accepted),
        Row(status: 128, reason: "ProtocolError", failureClass: .message, fate: .sentAgain),
        Row(status: 200, reason: "Status200", failureClass: .serverError, fate: .sentAgain),
        Row(status: 255, reason: "Unknown", failureClass: .serverError, fate: .sentAgain),
    ]

    @Test(arguments: rows)
    func `a status has a reason and a class`(row: Row) {
        #expect(Status(rawValue: row.status).reason == row.reason)
        #expect(Status(rawValue: row.status).failureClass == row.failureClass)
    }

    @Test(arguments: rows)
    func `those before the named one are accepted and those behind it sent again`(row: Row) throws {
        var rig = Rig(10)
        try rig.write()
        let resolution = try rig.reply(Status(rawValue: row.status), naming: 4)
        #expect(rig.accepted == Array(0..<(row.fate == .accepted ? 5 : 4)))
        #expect(resolution.doubtfulCount == 0 && !resolution.hidesRefusal)
        guard row.fate != .suspended else {
            #expect(try rig.write().isEmpty && rig.queue.hasHeldWork)
            // Behind the others, so that it asks with another one.
            rig.liftHold()
            #expect(try rig.write().map(\.index) == [5, 6, 7, 8, 9, 4])
            return
        }
        let rest = Array(5..<10)
        // A failure of the gateway: behind the rest of its job.
        let isLast = Status(rawValue: row.status).failureClass == .serverError
        #expect(
            try rig.write().map(\.index) == (row.fate != .sentAgain ? rest : isLast ? rest + [4] : [4] + rest))
    }

    @Test(arguments: rows)
    func `the named one has its status's fate`(row: Row) throws {
        var rig = Rig(10)
        try rig.write()
        try rig.reply(Status(rawValue: row.status), naming: 4)
        switch row.fate {
        case .accepted: #expect(rig.outcomes(4) == [.accepted])
        case .sentAgain, .suspended: #expect(rig.outcomes(4).isEmpty)
        case .rejected(let verdict):
            let refusal = Refusal(status: Int(row.status), reason: row.reason, verdict: verdict)
            #expect(rig.outcomes(4) == [.rejected(refusal)])
        }
    }

    @Test func `255 and 128 are unsigned`() throws {
        let bytes: [UInt8] = [8, 255, 0, 0, 0, 1, 8, 128, 0, 0, 0, 1]
        #expect(try ErrorReply(bytes[..<6])?.status == .unknown)
        #expect(try ErrorReply(bytes[6...])?.status == .protocolError)
    }

    @Test(arguments: [1, 9, 128, 255])
    func `a fault that need not be the notification's own is tried three times`(number: UInt8) throws {
        let status = Status(rawValue: number)
        var rig = Rig(3)
        for _ in 0..<3 {
            try rig.write()
            try rig.reply(status, naming: 1)
        }
        let refusal = Refusal(status: Int(number), reason: status.reason, verdict: .message)
        #expect(rig.outcomes(1) == [.rejected(refusal)])
        #expect(rig.writeCounts[Name(job: 1, index: 1)] == 3)
        #expect(rig.writeCounts[Name(job: 1, index: 0)] == 1)
    }

    @Test func `tries are counted for each notification by itself`() throws {
        var rig = Rig(2)
        for _ in 0..<2 {
            for index in 0..<2 {
                try rig.write()
                try rig.reply(.processingError, naming: index)
                rig.liftHold()
            }
        }
        #expect(rig.outcomes(0).isEmpty && rig.outcomes(1).isEmpty)
        try rig.write()
        try rig.reply(.processingError, naming: 0)
        #expect(rig.outcomes(0).map(\.kind.rawValue) == ["rejected"] && rig.outcomes(1).isEmpty)
    }

    @Test(arguments: [1, 9, 255])
    func `a job that only meets failures of the gateway waits, and others are sent at once`(number: UInt8) throws {
        let status = Status(rawValue: number)
        var rig = Rig(3)
        rig.queue.append(.named(0..<2, job: 2))
        try rig.write()
        try rig.reply(status, naming: 0)
        #expect(try rig.write().map(\.description) == ["2/0", "2/1"])
        #expect(!rig.queue.blamesApp(for: JobID(bits: 1)) && rig.queue.hasHeldWork)
        // Each time with another one, and with one only.
        for index in [1, 2, 0] {
            rig.ask()
            #expect(try rig.write().map(\.index) == [index])
            try rig.reply(status, naming: index)
        }
        // An acceptance of one ends the wait.
        rig.ask()
        #expect(try rig.write().map(\.index) == [1])
        rig.acknowledge()
        rig.pass(.seconds(5))
        #expect(try rig.write().map(\.index) == [2, 0])
        #expect(rig.outcomes(1) == [.accepted] && !rig.queue.hasHeldWork)
    }
}
