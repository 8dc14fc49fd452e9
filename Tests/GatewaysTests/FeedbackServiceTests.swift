import APNSBinary
import APNSModel
import GatewaySimulator
import Gateways
import LinuxIO
import OpenSSL
import PushModel
import TestSupport
import Testing

/// The feedback service's client against the simulated service, over TLS.
@Suite(.timeLimit(.minutes(10)))
struct FeedbackServiceTests {
    private static let list = [0, 1, 32, 32, 100].enumerated().map { number, length in
        GoneToken(token: [UInt8](repeating: UInt8(number), count: length), epochSeconds: UInt32(1_700_000_000 + number))
    }
    private static let bytes: [UInt8] = list.reduce(into: []) { bytes, entry in
        FeedbackTuple(epochSeconds: entry.epochSeconds, token: DeviceToken(bytes: entry.token)).encode(to: &bytes)
    }

    private static func timeouts(answer: Duration = .seconds(60)) -> GatewayTimeouts {
        var timeouts = GatewayTimeouts()
        (timeouts.connect, timeouts.answer) = (.seconds(60), answer)
        return timeouts
    }

    /// Reads the list once. Returns what was kept, and the fault if there was one.
    private func reading(
        _ manner: FeedbackManner, timeouts: GatewayTimeouts = timeouts()
    ) async throws -> (kept: [UInt8], fault: GatewayFault?) {
        let reading = try await limitedReading(manner, within: FeedbackService.Limits(), timeouts: timeouts)
        return (reading.pieces.flatMap(\.self), reading.fault)
    }

    /// Reads the list once, as much of it as is wanted. Returns the pieces that were kept, and how it ended.
    private func limitedReading(
        _ manner: FeedbackManner, within limits: FeedbackService.Limits, pieceLimit: Int = .max,
        timeouts: GatewayTimeouts = timeouts()
    ) async throws -> (pieces: [[UInt8]], ending: FeedbackService.Ending?, fault: GatewayFault?) {
        var settings = Simulator.Configuration()
        settings.feedback = Self.list
        settings.feedbackManner = manner
        settings.logger = Sample.logger
        return try await Simulator.running(settings) { simulator in
            let service = FeedbackService(
                endpoint: Sample.endpoint(simulator.ports.feedback), context: try Sample.context(of: simulator),
                timeouts: timeouts)
            return try await onReactor { reactor in
                var pieces: [[UInt8]] = []
                var ending: FeedbackService.Ending?
                let fault = await thrownError(GatewayFault.self) {
                    ending = try await service.read(on: reactor, within: limits) {
                        pieces.append($0)
                        return pieces.count < pieceLimit
                    }
                }
                return (pieces, ending, fault)
            }
        }
    }

    @Test(arguments: [[], [1], [5, 1, 32], [38], [7]])
    func `the list is the same in any pieces`(sizes: [Int]) async throws {
        var manner = FeedbackManner()
        manner.pieceSizes = sizes
        manner.pause = sizes == [1] ? .zero : .milliseconds(1)
        let result = try await reading(manner)
        #expect(result.kept == Self.bytes)
        #expect(result.fault == nil)
    }

    @Test(arguments: [1, 99, 106, 107])
    func `a cut last tuple is handed on as it came`(omitted: Int) async throws {
        var manner = FeedbackManner()
        manner.omittedByteCount = omitted
        let result = try await reading(manner)
        #expect(result.kept == Array(Self.bytes.dropLast(omitted)))
    }

    @Test func `what came before a reset is kept, and the reset told`() async throws {
        var manner = FeedbackManner()
        manner.resetAfter = 50
        let result = try await reading(manner)
        #expect(result.kept == Array(Self.bytes.prefix(50)))
        #expect(result.fault != nil)
    }

    @Test func `a service that falls silent is left, and what came is kept`() async throws {
        var manner = FeedbackManner()
        manner.pieceSizes = [50]
        manner.pause = .seconds(3600)
        let result = try await reading(manner, timeouts: Self.timeouts(answer: .seconds(2)))
        #expect(result.kept == Array(Self.bytes.prefix(50)))
        #expect(result.fault?.message.contains("ended in the middle") == true)
    }

    @Test func `a pause is not taken for the end`() async throws {
        var manner = FeedbackManner()
        manner.pieceSizes = [100]
        manner.pause = .milliseconds(300)
        #expect(try await reading(manner).kept == Self.bytes)
    }

    private static var endless: FeedbackManner {
        var manner = FeedbackManner()
        manner.isEndless = true
        return manner
    }

    @Test func `a list without an end is left when it has brought as much as is wanted`() async throws {
        var limits = FeedbackService.Limits()
        limits.byteCount = 300_000
        let reading = try await limitedReading(Self.endless, within: limits)
        #expect(reading.ending == .tooLong && reading.fault == nil)
        // One piece more at the most, of one read more.
        #expect((300_000..<300_000 + 2 * 65_536 + 16_384).contains(reading.pieces.reduce(0) { $0 + $1.count }))
    }

    @Test func `what comes at once is kept in pieces of one size`() async throws {
        var limits = FeedbackService.Limits()
        limits.byteCount = 1 << 20
        let reading = try await limitedReading(Self.endless, within: limits)
        #expect(reading.pieces.allSatisfy { $0.count < 2 * 65_536 + 16_384 })
    }

    @Test func `a list that trickles without an end is left when its time is up`() async throws {
        var manner = Self.endless
        (manner.pieceSizes, manner.pause) = ([10], .milliseconds(50))
        var limits = FeedbackService.Limits()
        limits.duration = .seconds(1)
        let reading = try await limitedReading(manner, within: limits)
        #expect(reading.ending == .tooSlow && !reading.pieces.isEmpty)
    }

    @Test func `a list that trickles is handed on a few times, not byte by byte`() async throws {
        var manner = FeedbackManner()
        (manner.pieceSizes, manner.pause) = ([1], .milliseconds(3))
        let reading = try await limitedReading(manner, within: FeedbackService.Limits())
        #expect(reading.pieces.flatMap(\.self) == Self.bytes && reading.ending == .whole)
        // It takes a good half of a second, or longer where there is little time.
        #expect(reading.pieces.count < Self.bytes.count / 10)
    }

    @Test func `what has come of a piece is handed on before a pause of the service`() async throws {
        var manner = FeedbackManner()
        (manner.pieceSizes, manner.pause) = ([50], .seconds(3600))
        var limits = FeedbackService.Limits()
        limits.duration = .seconds(30)
        let reading = try await limitedReading(manner, within: limits, pieceLimit: 1)
        #expect(reading.pieces == [Array(Self.bytes.prefix(50))] && reading.ending == .noRoom)
    }

    @Test func `nothing more is read when there is no room`() async throws {
        let reading = try await limitedReading(Self.endless, within: FeedbackService.Limits(), pieceLimit: 3)
        #expect(reading.ending == .noRoom && reading.pieces.count == 3)
    }

    @Test func `nothing more is read when keeping fails`() async throws {
        struct DiskFull: Error {}
        var settings = Simulator.Configuration()
        settings.feedback = Self.list
        settings.feedbackManner.pieceSizes = [10]
        settings.feedbackManner.pause = .milliseconds(1)
        try await Simulator.running(settings) { simulator in
            let service = FeedbackService(
                endpoint: Sample.endpoint(simulator.ports.feedback), context: try Sample.context(of: simulator),
                timeouts: Self.timeouts())
            try await onReactor { reactor in
                var calls = 0
                let fault = await thrownError(DiskFull.self) {
                    _ = try await service.read(on: reactor) { _ in
                        calls += 1
                        throw DiskFull()
                    }
                }
                #expect(fault != nil)
                #expect(calls == 1)
            }
        }
    }
}
