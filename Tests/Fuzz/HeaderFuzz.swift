import HTTP2
import NGHTTP2

/// Header blocks of both directions: what a peer may send, and what we write for the peer's decoder.
enum HeaderFuzz {
    private static let listLimit = 1_000

    /// Blocks, each behind a byte with its length. A list must not outgrow its limit.
    static func runDecoder(_ input: Span<UInt8>) {
        let decoder = HeaderDecoder(listLimit: listLimit)
        var fields = HeaderFields()
        var offset = 0
        while offset < input.count {
            let end = min(input.count, offset + 1 + Int(input[offset]))
            let before = fields.listByteCount
            do throws(HeaderBlockFault) {
                try decoder.decode(input.extracting(offset + 1..<end), into: &fields)
            } catch {
                if error == .malformed { return }
            }
            promise(fields.listByteCount - before <= listLimit, "a list beyond its limit")
            for index in 0..<fields.count { _ = (fields.name(at: index), fields.value(at: index)) }
            if fields.count > 1_000 { fields.removeAll() }
            offset = end
        }
    }

    /// Heads and table sizes. nghttp2 must read the fields that were written, holes included.
    static func runEncoder(_ input: Span<UInt8>) {
        var (encoder, bytes) = (HeaderEncoder(), Bytes(input))
        let decoder = HeaderDecoder(listLimit: 1 << 20)
        while let choice = bytes.next() {
            if choice % 8 == 0 {
                encoder.limitTable(to: bytes.number())
            } else {
                let head = head(of: Int(choice % 8), &bytes)
                for _ in 0..<2 { check(encoder.encode(head), reads: head, by: decoder) }
            }
        }
    }

    private static func check(_ block: EncodedHead, reads head: RequestHead, by decoder: HeaderDecoder) {
        var fields = HeaderFields()
        for _ in 0..<(block.isRepeatable ? 2 : 1) {
            fields.removeAll()
            do throws(HeaderBlockFault) {
                try decoder.decode(block.bytes.span, into: &fields)
            } catch {
                promise(false, "nghttp2 refuses a block of ours: \(error) \(block.bytes)")
            }
        }
        promise(fields.count == head.fields.count, "\(fields.count) fields of \(head.fields.count)")
        var hole = 0
        for (index, field) in head.fields.enumerated() {
            promise(fields.name(at: index).elementsEqual(field.name.utf8), "another name")
            switch field.value {
            case .text(let text): promise(fields.value(at: index) == text[...], "another value")
            case .hole(let prefix, let byteCount):
                let value = fields.value(at: index)
                promise(value.starts(with: prefix) && value.count == prefix.count + byteCount, "another hole")
                let place = block.holes[hole]..<block.holes[hole] + byteCount
                promise(block.bytes[place].elementsEqual(value.dropFirst(prefix.count)), "a hole elsewhere")
                hole += 1
            }
        }
        promise(hole == block.holes.count, "\(block.holes.count) holes of \(hole)")
    }

    private static func head(of count: Int, _ bytes: inout Bytes) -> RequestHead {
        let names = [
            ":method", ":path", ":authority", "authorization", "apns-topic", "apns-push-type", "apns-id", "x",
        ]
        return RequestHead(
            fields: (0..<count).map { _ in
                let choice = bytes.next() ?? 0
                let name = names[Int(choice & 7)]
                if choice & 8 != 0 {
                    let hole = RequestHead.Value.hole(prefix: bytes.take(3), byteCount: bytes.number())
                    return .init(name, hole, kept: choice & 32 != 0 ? .name : .nothing)
                }
                let text =
                    choice & 16 == 0 ? bytes.take(Int(choice >> 5)) : [UInt8](repeating: 65, count: bytes.number())
                return .init(name, .text(text), kept: choice & 32 != 0 ? .field : .nothing)
            })
    }
}
