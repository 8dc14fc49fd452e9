import APNSBinary
import Foundation
import Testing

@testable import GatewaySimulator

/// The protocol's vectors, as a gateway is to take them (Tests/Fixtures/binary-frames.json).
struct VectorTests {
    /// One vector, of which only what these tests need is read.
    struct Vector: Decodable, CustomTestStringConvertible, Sendable {
        let name: String
        let hex: String
        let decoded: Decoded
        var testDescription: String { name }

        struct Decoded: Decodable {
            let direction: String
            let frames: [Frame]?
            let expect: Expectation?
        }

        struct Frame: Decodable {
            let command: UInt8
        }

        struct Expectation: Decodable {
            let outcome: String
            let errorStatus: OneOrMore?
            let errorIdentifier: OneOrMore?
        }

        var bytes: [UInt8] {
            let digits = Array(hex)
            return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        }
    }

    /// A number, or several of which any will do.
    struct OneOrMore: Decodable, Sendable {
        let numbers: [UInt32]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                numbers = [try container.decode(UInt32.self)]
            } catch is Swift.DecodingError {
                numbers = try container.decode([UInt32].self)
            }
        }
    }

    static func vectors() throws -> [Vector] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../Fixtures/binary-frames.json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Vectors.self, from: Data(contentsOf: file)).vectors
            .filter { $0.decoded.direction == "provider-to-gateway" }
    }

    private struct Vectors: Decodable {
        let vectors: [Vector]
    }

    @Test(arguments: try vectors())
    func `a vector meets its expected fate`(vector: Vector) throws {
        let expected = try #require(vector.decoded.expect)
        var bench = try PolicyBench()
        bench.receive(vector.bytes)
        let (bytes, _) = bench.farewell()
        guard expected.outcome == "rejected" else {
            #expect(bench.ledger.acceptedCount == vector.decoded.frames?.count && bytes.isEmpty)
            return
        }
        #expect(bench.ledger.refusedCount == 1)
        guard vector.decoded.frames?.first?.command != 0 else {
            #expect(bytes.isEmpty, "command 0 has no answer")
            return
        }
        let reply = try #require(try ErrorReply(decoding: bytes.span))
        #expect(expected.errorStatus?.numbers.contains(UInt32(reply.status.rawValue)) == true)
        #expect(expected.errorIdentifier?.numbers.contains(reply.identifier) ?? true)
    }
}
