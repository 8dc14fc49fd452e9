import APNSBinary
import PushModel
import Testing

struct NotificationVectorTests {
    @Test(arguments: Vector.all("notifications").filter { $0.name != "cmd2-duplicate-token-item" })
    func `a vector decodes into its fields`(vector: Vector) throws {
        let frames = try #require(vector.decoded.frames)
        var rest = vector.bytes[...]
        for expected in frames {
            let frame = try #require(try NotificationFrame(rest))
            let bytes = Array(rest)
            #expect(frame.format.rawValue == expected.command)
            #expect(frame.byteCount == expected.length)
            #expect(frame.identifier == expected.name)
            #expect(frame.expiry == expected.deadline)
            #expect(frame.priority == expected.priority)
            #expect(Array(bytes[frame.token]) == expected.token)
            #expect(Array(bytes[frame.payload]) == expected.payload)
            rest = rest.dropFirst(frame.byteCount)
        }
        #expect(rest.count == vector.decoded.trailingBytes)
        #expect(try NotificationFrame(rest) == nil)
    }

    @Test(arguments: Vector.all("notifications"))
    func `a vector in the encoder's form is encoded to the same bytes`(vector: Vector) throws {
        let frames = try #require(vector.decoded.frames)
        var start = 0
        for frame in frames {
            let original = Array(vector.bytes[start..<start + frame.length])
            start += frame.length
            let isOurForm = frame.command < 2 || frame.order == [3, 1, 2, 4, 5]
            if isOurForm { #expect(try encode(frame) == original) }
        }
    }

    @Test(arguments: Vector.all("notifications").filter { $0.decoded.frames?.first?.order.count == 5 })
    func `a frame of all five items says the same in our order`(vector: Vector) throws {
        for frame in try #require(vector.decoded.frames) {
            let bytes = try encode(frame)
            let decoded = try #require(try NotificationFrame(bytes))
            #expect(bytes.count == frame.length && decoded.byteCount == frame.length)
            #expect(decoded.identifier == frame.name && decoded.expiry == frame.deadline)
            #expect(decoded.priority == frame.priority)
            #expect(Array(bytes[decoded.token]) == frame.token && Array(bytes[decoded.payload]) == frame.payload)
        }
    }

    @Test func `there are vectors of every form our encoder makes`() {
        let frames = Vector.all("notifications").flatMap { $0.decoded.frames ?? [] }
        #expect(Set(frames.map(\.command)) == [0, 1, 2])
        #expect(frames.contains { $0.order == [3, 1, 2, 4, 5] })
    }

    @Test func `two tokens in one frame are malformed, and the identifier in front is known`() throws {
        let vector = try Vector.named("cmd2-duplicate-token-item")
        #expect(throws: DecodingError.malformedItems(identifier: 16)) {
            try NotificationFrame(vector.bytes)
        }
    }

    @Test func `the flush probe has a token and a payload of no bytes`() throws {
        let vector = try Vector.named("cmd2-flush-probe")
        var bytes: [UInt8] = []
        FrameEncoder.appendFlushProbe(15, format: .frame, to: &bytes)
        let frame = try #require(try NotificationFrame(bytes))
        #expect(bytes.count == vector.bytes.count)
        #expect(frame.identifier == 15 && frame.expiry == 0 && frame.priority == 10)
        #expect(frame.token.isEmpty && frame.payload.isEmpty)
    }

    private func encode(_ frame: Vector.Frame) throws -> [UInt8] {
        let format = try #require(FrameFormat(rawValue: frame.command))
        var encoder = FrameEncoder(format: format, attributes: frame.attributes)
        var bytes: [UInt8] = []
        encoder.append(
            token: frame.token[...], payload: frame.payload[...], identifier: frame.name ?? 0, to: &bytes)
        return bytes
    }
}
