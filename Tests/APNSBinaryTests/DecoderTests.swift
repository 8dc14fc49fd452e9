import APNSBinary
import APNSModel
import PushModel
import TestSupport
import Testing

/// Decoders meet bytes from anybody: they may refuse them, and wait for more, but never trap or read too far.
struct DecoderTests {
    private static let formats = FrameFormat.allCases

    @Test func `no random bytes trap a decoder`() {
        for seed in UInt64(0)..<3000 {
            var random = SeededGenerator(seed: seed)
            var bytes = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0..<4, using: &random) }
            check(bytes, seed)
        }
    }

    @Test func `no mutation of valid bytes traps a decoder`() {
        for seed in UInt64(0)..<3000 {
            var random = SeededGenerator(seed: seed)
            var bytes = stream(using: &random)
            for _ in 0..<Int.random(in: 1..<5, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.remove(at: place)
                default: bytes.insert([0, 0xFF].randomElement(using: &random) ?? 0, at: place)
                }
            }
            check(bytes, seed)
        }
    }

    @Test func `every prefix of a stream decodes to the same frames or to none yet`() throws {
        for seed in UInt64(0)..<60 {
            var random = SeededGenerator(seed: seed)
            let bytes = stream(using: &random)
            let whole = try frames(of: bytes).map(\.frame)
            for end in 0...bytes.count {
                let found = try frames(of: Array(bytes[..<end])).map(\.frame)
                #expect(found == Array(whole.prefix(found.count)), "seed \(seed) prefix \(end)")
                #expect(found.count == whole.count || end < bytes.count, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [1, 4, 5, 6, 7, 37])
    func `a feedback prefix decodes to nothing until the tuple is whole`(count: Int) throws {
        var bytes: [UInt8] = []
        FeedbackTuple(epochSeconds: 1, token: DeviceToken(bytes: [UInt8](repeating: 7, count: 32))).encode(to: &bytes)
        #expect(FeedbackTuple(bytes[..<count]) == nil)
    }

    @Test func `a frame that claims too many bytes is refused before they are read`() {
        let bytes: [UInt8] = [2, 0, 0, 0x40, 1]
        #expect(throws: DecodingError.frameTooLong(16_385)) { try NotificationFrame(bytes) }
    }

    @Test(arguments: [
        "0200000000", "020000000103", "02000000030300", "0200000007030004000000",
        "020000000703000300000001", "02000000080400050000000001", "0200000004050000",
        "020000000903000400000001010004",
    ])
    func `items that do not add up are malformed or unfinished`(hex: String) {
        #expect((try? NotificationFrame([UInt8](hex: hex))) == nil)
    }

    @Test func `an unknown item is passed over`() throws {
        let items = "01000101" + "0200017b" + "09000511223344ff" + "03000400000007"
        let bytes = [UInt8](hex: "02000000" + String(items.utf8.count / 2, radix: 16).leftPadded + items)
        let frame = try #require(try NotificationFrame(bytes))
        #expect(frame.identifier == 7 && frame.token.count == 1 && frame.payload.count == 1)
    }

    private func check(_ bytes: [UInt8], _ seed: UInt64) {
        if let frame = try? NotificationFrame(bytes) {
            #expect(frame.byteCount <= bytes.count, "seed \(seed)")
            #expect(
                frame.token.upperBound <= frame.byteCount && frame.payload.upperBound <= frame.byteCount, "seed \(seed)"
            )
        }
        if let tuple = FeedbackTuple(bytes) {
            #expect(tuple.encodedByteCount <= bytes.count, "seed \(seed)")
        }
        _ = try? ErrorReply(bytes)
    }

    /// A few valid notifications, end to end.
    private func stream(using random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1..<4, using: &random) {
            let format = Self.formats.randomElement(using: &random) ?? .frame
            var encoder = FrameEncoder(format: format, attributes: Attributes())
            let token = [UInt8](
                repeating: .random(in: 0...9, using: &random), count: .random(in: 0..<40, using: &random))
            let payload = [UInt8](repeating: 0x20, count: .random(in: 0..<40, using: &random))
            encoder.append(
                token: token[...], payload: payload[...], identifier: .random(in: 0 ... .max, using: &random),
                to: &bytes)
        }
        return bytes
    }
}

extension String {
    /// Two digits at least.
    fileprivate var leftPadded: String { utf8.count < 2 ? "0" + self : self }
}
