import APNSBinary
import PushModel
import Testing

@testable import GatewaySimulator

/// What the feedback service has to tell, and in which pieces.
struct FeedbackListTests {
    private let gone = [GoneToken(token: [1, 2], epochSeconds: 5), GoneToken(token: [], epochSeconds: .max)]

    @Test func `tuples are told in order, and forgotten`() {
        var list = FeedbackList()
        list.append(gone)
        let bytes: [UInt8] = [0, 0, 0, 5, 0, 2, 1, 2, 255, 255, 255, 255, 0, 0]
        #expect(list.encoded(forgetting: false) == bytes)
        #expect(list.encoded(forgetting: true) == bytes)
        #expect(list.encoded(forgetting: true) == [])
    }

    @Test(
        arguments: [
            ([], 0, nil, [[0, 1, 2, 3, 4, 5, 6]]), ([3], 0, nil, [[0, 1, 2], [3, 4, 5], [6]]),
            ([1, 4], 0, nil, [[0], [1, 2, 3, 4], [5], [6]]), ([0, 9], 2, nil, [[0], [1, 2, 3, 4]]),
            ([2], 0, 3, [[0, 1], [2]]), ([], 99, nil, []), ([], 0, 0, []),
        ] as [([Int], Int, Int?, [[UInt8]])])
    func `a list is cut as asked`(sizes: [Int], omitted: Int, resetAfter: Int?, pieces: [[UInt8]]) {
        var manner = FeedbackManner()
        manner.pieceSizes = sizes
        manner.omittedByteCount = omitted
        manner.resetAfter = resetAfter
        #expect(manner.pieces(of: [0, 1, 2, 3, 4, 5, 6]).map(Array.init) == pieces)
    }

    @Test func `a token that is gone is told once it was sent to`() throws {
        var list = FeedbackList(gone: [GoneToken(token: Sample.token(2), epochSeconds: 77)], collectsRefused: true)
        let bytes = Sample.frames(2...2)
        let frame = try #require(try NotificationFrame(decoding: bytes.span))
        for outcome in [Ledger.Outcome.discarded, .refused(status: 7), .accepted, .refused(status: 8)] {
            list.note(
                frame, of: bytes.span,
                as: .init(connection: 1, sequence: 1, time: .init(epochSeconds: 99), outcome: outcome))
        }
        #expect(list.entries.map(\.epochSeconds) == [77, 99])
    }
}
