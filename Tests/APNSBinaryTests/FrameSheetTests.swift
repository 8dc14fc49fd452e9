import APNSBinary
import APNSModel
import PushModel
import TestSupport
import Testing

struct FrameSheetTests {
    @Test(arguments: FrameFormat.allCases)
    func `a sheet used again and again writes the frames that an encoder would`(format: FrameFormat) throws {
        for seed in UInt64(1)..<40 {
            var random = SeededGenerator(seed: seed)
            var sheet = FrameSheet(byteLimit: .random(in: 1...2_000, using: &random))
            var machine = PipelineMachine(options: .init(format: format))
            var (bytes, expected): ([UInt8], [UInt8]) = ([], [])
            var identifier: UInt32 = 1
            for job in UInt64(1)..<8 {
                var batch = Self.batch(job: job, using: &random)
                expected += Self.frames(of: batch, format: format, from: identifier)
                identifier += UInt32(batch.count)
                while !batch.isEmpty { machine.write(&batch, on: &sheet, to: &bytes) }
            }
            try #require(bytes == expected, "seed \(seed)")
        }
    }

    @Test func `a record ends before its limit, but never before its first notification`() throws {
        var machine = PipelineMachine(options: .init())
        var batch = Batch.named(0..<10)
        var bytes: [UInt8] = []
        machine.writeRecord(&batch, to: &bytes, byteLimit: 1)
        #expect(batch.indices == 1..<10 && machine.doubtCount == 1)
        let frameByteCount = bytes.count
        machine.writeRecord(&batch, to: &bytes, byteLimit: frameByteCount * 3 - 1)
        #expect(batch.indices == 3..<10)
        machine.writeRecord(&batch, to: &bytes, byteLimit: frameByteCount * 3)
        #expect(batch.indices == 6..<10)
        #expect(bytes.count == frameByteCount * 6)
    }

    @Test func `a full window leaves an empty sheet`() {
        var machine = PipelineMachine(options: .init(windowLimit: 2))
        var sheet = FrameSheet(byteLimit: 16_384)
        var (batch, bytes) = (Batch.named(0..<3), [UInt8]())
        machine.write(&batch, on: &sheet, to: &bytes)
        let written = bytes.count
        machine.write(&batch, on: &sheet, to: &bytes)
        #expect(bytes.count == written && batch.count == 1)
        #expect(sheet.byteCount == 0)
    }

    /// Tokens of one length or several, a payload for all or one for each.
    private static func batch(job: UInt64, using random: inout SeededGenerator) -> Batch {
        var (tokens, payloads) = (PackedBytes(), PackedBytes())
        let lengths = Bool.random(using: &random) ? 32...32 : 30...33
        for index in 0..<Int.random(in: 1...30, using: &random) {
            let length = Int.random(in: lengths, using: &random)
            tokens.append((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
            payloads.append(Array("{\"n\":\(index)}".utf8))
        }
        let shared = Payload(bytes: [UInt8](repeating: 7, count: .random(in: 0...90, using: &random)))
        let priority: Priority = Bool.random(using: &random) ? .immediate : .lowest
        let header = Batch.Header(job: JobID(bits: UInt128(job)), attributes: Attributes(priority: priority))
        return Batch(
            header: header, firstIndex: .random(in: 0...9, using: &random), addresses: tokens,
            payloads: Bool.random(using: &random) ? .shared(shared) : .each(payloads))
    }

    private static func frames(of batch: Batch, format: FrameFormat, from first: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        for (place, index) in batch.indices.enumerated() {
            var encoder = FrameEncoder(format: format, attributes: batch.attributes)
            encoder.append(
                token: batch.addressBytes(at: index), payload: batch.payload(at: index),
                identifier: first + UInt32(place),
                to: &bytes)
        }
        return bytes
    }
}
