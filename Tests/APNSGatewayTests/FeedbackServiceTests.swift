import APNSBinary
import APNSGateway
import APNSModel
import GatewaySimulator
import LinuxIO
import OpenSSL
import TestSupport
import Testing

/// The feedback service's client against the simulated service, over TLS.
@Suite(.timeLimit(.minutes(3)))
struct FeedbackServiceTests {
    private static let list = [0, 1, 32, 32, 100].enumerated().map { number, length in
        GoneToken(token: [UInt8](repeating: UInt8(number), count: length), epochSeconds: UInt32(1_700_000_000 + number))
    }
    private static let bytes: [UInt8] = list.reduce(into: []) { bytes, entry in
        FeedbackTuple(epochSeconds: entry.epochSeconds, token: DeviceToken(bytes: entry.token)).encode(to: &bytes)
    }

    /// Reads the list once. Returns what was kept, and the fault if there was one.
    private func reading(
        _ manner: FeedbackManner, answerTimeout: Duration = .seconds(60)
    ) async throws -> (kept: [UInt8], fault: GatewayFault?) {
        var settings = Simulator.Configuration()
        settings.feedback = Self.list
        settings.feedbackManner = manner
        settings.logger = Sample.logger
        return try await Simulator.running(settings) { simulator in
            let service = FeedbackService(
                endpoint: Sample.endpoint(simulator.ports.feedback), context: try Sample.context(of: simulator),
                connectTimeout: .seconds(60), answerTimeout: answerTimeout)
            return try await onReactor { reactor in
                var kept: [UInt8] = []
                let fault = await thrownError(GatewayFault.self) {
                    try await service.read(on: reactor) { kept += $0 }
                }
                return (kept, fault)
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
        let result = try await reading(manner, answerTimeout: .seconds(2))
        #expect(result.kept == Array(Self.bytes.prefix(50)))
        #expect(result.fault?.message.contains("stopped in the middle") == true)
    }

    @Test func `a pause is not taken for the end`() async throws {
        var manner = FeedbackManner()
        manner.pieceSizes = [100]
        manner.pause = .milliseconds(300)
        #expect(try await reading(manner).kept == Self.bytes)
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
                connectTimeout: .seconds(60), answerTimeout: .seconds(60))
            try await onReactor { reactor in
                var calls = 0
                let fault = await thrownError(DiskFull.self) {
                    try await service.read(on: reactor) { _ in
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
