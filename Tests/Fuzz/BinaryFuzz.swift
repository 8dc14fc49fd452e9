import APNSBinary
import PushModel

/// The three decoders of the binary protocol. What they accept, they must write back byte for byte.
enum BinaryFuzz {
    static func run(_ input: Span<UInt8>) {
        reply(input)
        tuples(input)
        frames(input)
    }

    private static func reply(_ input: Span<UInt8>) {
        guard let reply = try? ErrorReply(decoding: input) else { return }
        var again: [UInt8] = []
        reply.encode(to: &again)
        promise(again == input.extracting(first: ErrorReply.encodedByteCount).array, "a reply changed")
    }

    private static func tuples(_ input: Span<UInt8>) {
        var offset = 0
        while let tuple = FeedbackTuple(decoding: input.extracting(droppingFirst: offset)) {
            var again: [UInt8] = []
            tuple.encode(to: &again)
            let end = offset + tuple.encodedByteCount
            promise(again == input.extracting(offset..<end).array, "a tuple changed")
            offset = end
        }
    }

    private static func frames(_ input: Span<UInt8>) {
        var rest = input.extracting(droppingFirst: 0)
        while let frame = try? NotificationFrame(decoding: rest) {
            let whole = 0..<frame.byteCount
            promise(frame.byteCount > 0 && frame.byteCount <= rest.count, "a frame ends behind its bytes")
            promise(whole.contains(frame.token) && whole.contains(frame.payload), "an item lies outside its frame")
            let alone = try? NotificationFrame(decoding: rest.extracting(first: frame.byteCount))
            promise(alone == frame, "a frame depends on what follows it")
            let cut = try? NotificationFrame(decoding: rest.extracting(first: frame.byteCount - 1))
            promise(cut == nil, "a frame was complete before its end")
            rest = rest.extracting(droppingFirst: frame.byteCount)
        }
    }
}
