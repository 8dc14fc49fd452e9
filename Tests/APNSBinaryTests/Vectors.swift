import APNSBinary
import APNSModel
import Foundation
import PushModel
import Testing

/// One entry of `Tests/Fixtures/binary-frames.json`, in its words.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let hex: String
    let decoded: Decoded

    struct Decoded: Decodable, Sendable {
        let kind: String
        let frames: [Frame]?
        let trailingBytes: Int?
        let status: UInt8?
        let identifier: UInt32?
        let namedNotificationFailed: Bool?
        let statusClass: String?
        let tuples: [Tuple]?
        let leftoverHex: String?
        let latestByToken: [String: UInt32]?
        let readChunksHex: [String]?
    }

    struct Frame: Decodable, Sendable {
        let command: UInt8
        let length: Int
        let identifier: UInt32?
        let expiry: UInt32?
        let tokenHex: String?
        let payloadUtf8: String?
        let items: [Item]?
    }

    struct Item: Decodable, Sendable {
        let item: UInt8
        let value: UInt32?
        let valueHex: String?
        let valueUtf8: String?
    }

    struct Tuple: Decodable, Sendable {
        let timestamp: UInt32
        let tokenHex: String
    }

    var testDescription: String { name }
    var bytes: [UInt8] { [UInt8](hex: hex) }

    /// The reads in which the bytes arrive; all at once unless the vector says otherwise.
    var chunks: [[UInt8]] { decoded.readChunksHex?.map { [UInt8](hex: $0) } ?? [bytes] }
}

extension Vector {
    /// All vectors of one kind.
    static func all(_ kind: String) -> [Vector] {
        all.filter { $0.decoded.kind == kind }
    }

    static func named(_ name: String) throws -> Vector {
        try #require(all.first { $0.name == name })
    }

    private static let all: [Vector] = {
        struct File: Decodable { let vectors: [Vector] }
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            let data = try Data(contentsOf: tests.appending(path: "Fixtures/binary-frames.json"))
            return try decoder.decode(File.self, from: data).vectors
        } catch {
            Issue.record("the vectors cannot be read: \(error)")
            return []
        }
    }()
}

extension Vector.Frame {
    private func item(_ number: UInt8) -> Vector.Item? { items?.first { $0.item == number } }

    var token: [UInt8] { [UInt8](hex: tokenHex ?? item(1)?.valueHex ?? "") }
    var payload: [UInt8] { Array((payloadUtf8 ?? item(2)?.valueUtf8 ?? "").utf8) }
    var name: UInt32? { identifier ?? item(3)?.value }
    var deadline: UInt32? { expiry ?? item(4)?.value }
    var priority: UInt8? { item(5)?.value.map { UInt8($0) } }
    var order: [UInt8] { items?.map(\.item) ?? [] }

    /// The attributes with which our encoder makes this frame.
    var attributes: Attributes {
        Attributes(
            priority: priority.flatMap(Priority.init(rawValue:)) ?? .immediate,
            expiration: Expiration(epochSeconds: Int64(deadline ?? 0)))
    }
}

extension [UInt8] {
    /// The bytes that pairs of hexadecimal digits spell.
    init(hex: String) {
        let digits = Array<UInt8>(hex.utf8).map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 0) }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
