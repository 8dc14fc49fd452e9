import APNSModel
import PushModel
import TestSupport
import Testing

struct PackedBytesTests {
    @Test func `packed strings come out as they went in`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            let isEven = Bool.random(using: &random)
            var (packed, model) = (PackedBytes(), [[UInt8]]())
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                let length = isEven && model.count != 40 ? 4 : Int.random(in: 0...6, using: &random)
                let string = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                append(string, to: &packed, by: &random)
                model.append(string)
            }
            #expect((0..<packed.count).map { Array(packed[$0]) } == model, "seed \(seed)")
            #expect(packed.bytes == Array(model.joined()), "seed \(seed)")
        }
    }

    /// Adds the string in one of the two ways, now and then after an attempt that is taken back.
    private func append(_ string: [UInt8], to packed: inout PackedBytes, by random: inout SeededGenerator) {
        if Int.random(in: 0..<4, using: &random) == 0 {
            packed.append { bytes in
                bytes.append(contentsOf: [9, 9, 9])
                return false
            }
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: packed.append(string)
        case 1: packed.append(string[...])
        default:
            packed.append { bytes in
                bytes.append(contentsOf: string)
                return true
            }
        }
    }
}

struct BatchTests {
    private let header = Batch.Header(job: JobID(bits: 1), attributes: Attributes(topic: "t"), onDoubt: .report)

    private func batch(first: Int, count: Int, paired: Bool) -> Batch {
        var (tokens, payloads) = (PackedBytes(), PackedBytes())
        for index in first..<first + count {
            tokens.append([UInt8(index)])
            payloads.append([UInt8](repeating: UInt8(index), count: index % 3))
        }
        let shared = Payload(bytes: [0x7B, 0x7D])
        return Batch(
            header: header, firstIndex: first, addresses: tokens, payloads: paired ? .each(payloads) : .shared(shared))
    }

    @Test(arguments: [true, false])
    func `a slice knows its notifications by their own indices`(paired: Bool) {
        let slice = batch(first: 10, count: 20, paired: paired)[15..<18]
        #expect(slice.indices == 15..<18 && slice.count == 3)
        for index in slice.indices {
            #expect(Array(slice.addressBytes(at: index)) == [UInt8(index)])
            let payload = paired ? [UInt8](repeating: UInt8(index), count: index % 3) : [0x7B, 0x7D]
            #expect(Array(slice.payload(at: index)) == payload)
        }
    }

    @Test func `a slice of a slice and an empty one work`() {
        let slice = batch(first: 0, count: 9, paired: true)[2..<8][4..<8][5..<5]
        #expect(slice.isEmpty && slice.indices == 5..<5 && slice.job == header.job && slice.onDoubt == .report)
    }

    @Test func `removing the first ones never takes more than there are`() {
        var rest = batch(first: 3, count: 5, paired: false)
        #expect(rest.removeFirst(2).indices == 3..<5)
        #expect(rest.indices == 5..<8)
        #expect(rest.removeFirst(9).indices == 5..<8)
        #expect(rest.isEmpty && rest.removeFirst(1).isEmpty)
    }
}

struct AttributesTests {
    @Test func `an expiration has passed from its second on`() {
        let expiration = Expiration(epochSeconds: 100)
        #expect(!expiration.hasPassed(at: WallTime(nanoseconds: 99_999_999_999)))
        #expect(expiration.hasPassed(at: WallTime(epochSeconds: 100)))
        #expect(!Expiration.singleAttempt.hasPassed(at: WallTime(epochSeconds: 1 << 40)))
        #expect(Expiration(epochSeconds: -1) == .singleAttempt)
    }

    @Test(arguments: [
        (Carrier.simple, PushType.alert, 256), (.enhanced, .voip, 256), (.frame, .alert, 2048), (.frame, .voip, 2048),
        (.http2, .alert, 4096), (.http2, .background, 4096), (.http2, .voip, 5120), (.http2, .liveactivity, 4096),
    ])
    func `each carrier has its payload limit`(carrier: Carrier, type: PushType, limit: Int) {
        #expect(carrier.payloadLimit(for: type) == limit)
    }

    @Test func `only a background push has rules of its own for priority`() {
        for type in PushType.allCases {
            #expect(type.allows(type.defaultPriority))
            #expect(type.allows(.immediate) == (type != .background))
        }
    }

    @Test func `an outcome has its word, and its refusal where there is one`() {
        let refusal = Refusal(status: 8, reason: "BadDeviceToken", verdict: .invalid)
        let outcomes: [Outcome] = [.accepted, .rejected(refusal), .expired, .unsent(refusal), .unknown]
        #expect(outcomes.map(\.kind.rawValue) == ["accepted", "rejected", "expired", "unsent", "unknown"])
        #expect(outcomes.map { $0.refusal != nil } == [false, true, false, true, false])
    }
}
