import APNSBinary
import APNSModel
import PushModel
import TestSupport
import Testing

struct FrameEncoderTests {
    @Test(arguments: FrameFormat.allCases)
    func `one encoder writes tokens and payloads of any lengths as if each were its first`(format: FrameFormat) throws {
        var random = SeededGenerator(seed: 3)
        let attributes = Attributes(priority: .lowest, expiration: Expiration(epochSeconds: 0x0102_0304))
        var shared = FrameEncoder(format: format, attributes: attributes)
        var (bytes, expected): ([UInt8], [UInt8]) = ([], [])
        let payloads = [[1, 2, 3], [4, 5, 6], [], [UInt8](repeating: 9, count: 700)]
        for identifier in UInt32(1)..<300 {
            let token = [UInt8](
                repeating: UInt8(truncatingIfNeeded: identifier), count: .random(in: 31..<34, using: &random))
            let payload = payloads.randomElement(using: &random) ?? []
            shared.append(token: token[...], payload: payload[...], identifier: identifier, to: &bytes)
            var fresh = FrameEncoder(format: format, attributes: attributes)
            fresh.append(token: token[...], payload: payload[...], identifier: identifier, to: &expected)
        }
        #expect(bytes == expected)
        #expect(try frames(of: bytes).count == 299)
    }

    @Test func `the paired payloads of a batch go with their tokens`() throws {
        var (tokens, payloads) = (PackedBytes(), PackedBytes())
        for index in 0..<20 {
            tokens.append(Name(job: 1, index: index).token)
            payloads.append(Array("{\"n\":\(index)}".utf8))
        }
        let header = Batch.Header(job: JobID(bits: 1), attributes: Attributes())
        var batch = Batch(header: header, firstIndex: 0, addresses: tokens, payloads: .each(payloads))
        var (machine, bytes): (PipelineMachine, [UInt8]) = (PipelineMachine(options: .init()), [])
        machine.write(&batch, to: &bytes)
        var rest = bytes[...]
        for index in 0..<20 {
            let frame = try #require(try NotificationFrame(rest))
            #expect(String(decoding: Array(rest)[frame.payload], as: UTF8.self) == "{\"n\":\(index)}")
            #expect(Name(token: Array(rest)[frame.token])?.index == index)
            rest = rest.dropFirst(frame.byteCount)
        }
    }

    @Test(arguments: [(Int64(1) << 32, UInt32.max), (Int64(UInt32.max), .max), (-1, 0), (0, 0)])
    func `an expiration that 32 bits cannot tell is written as the nearest they can`(seconds: Int64, wire: UInt32)
        throws
    {
        let attributes = Attributes(expiration: Expiration(epochSeconds: seconds))
        var (encoder, bytes): (FrameEncoder, [UInt8]) = (FrameEncoder(format: .frame, attributes: attributes), [])
        encoder.append(token: [1], payload: [2], identifier: 1, to: &bytes)
        #expect(try NotificationFrame(bytes)?.expiry == wire)
    }
}
