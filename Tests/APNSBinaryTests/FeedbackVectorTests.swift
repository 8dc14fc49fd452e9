import APNSBinary
import APNSModel
import PushModel
import Testing

struct FeedbackVectorTests {
    @Test(arguments: Vector.all("feedback"))
    func `a stream decodes into its tuples, whatever the reads`(vector: Vector) throws {
        let expected = try #require(vector.decoded.tuples)
        for chunks in [vector.chunks, vector.bytes.map { [$0] }] {
            let (tuples, leftover) = decode(chunks)
            #expect(tuples.map(\.epochSeconds) == expected.map(\.timestamp))
            #expect(tuples.map(\.token.hex) == expected.map(\.tokenHex))
            #expect(leftover == [UInt8](hex: vector.decoded.leftoverHex ?? ""))
        }
    }

    @Test(arguments: Vector.all("feedback"))
    func `tuples are encoded to the same bytes`(vector: Vector) throws {
        var bytes: [UInt8] = []
        for tuple in try #require(vector.decoded.tuples) {
            let tuple = FeedbackTuple(
                epochSeconds: tuple.timestamp, token: DeviceToken(bytes: [UInt8](hex: tuple.tokenHex)))
            let start = bytes.count
            tuple.encode(to: &bytes)
            #expect(bytes.count - start == tuple.encodedByteCount)
        }
        #expect(bytes + [UInt8](hex: vector.decoded.leftoverHex ?? "") == vector.bytes)
    }

    @Test func `of two tuples for one token the later time is the vector's`() throws {
        let vector = try Vector.named("feedback-duplicate-token")
        let latest = Dictionary(
            decode([vector.bytes]).tuples.map { ($0.token.hex, $0.epochSeconds) }, uniquingKeysWith: max)
        #expect(latest == vector.decoded.latestByToken)
    }

    private func decode(_ chunks: [[UInt8]]) -> (tuples: [FeedbackTuple], leftover: [UInt8]) {
        var (tuples, pending): ([FeedbackTuple], [UInt8]) = ([], [])
        for chunk in chunks {
            pending += chunk
            while let tuple = FeedbackTuple(pending) {
                tuples.append(tuple)
                pending.removeFirst(tuple.encodedByteCount)
            }
        }
        return (tuples, pending)
    }
}
