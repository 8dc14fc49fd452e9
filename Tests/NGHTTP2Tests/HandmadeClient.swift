import HTTP2
import NGHTTP2

/// A client's bytes, made by hand, against a session, and what came of them.
struct HandmadeClient {
    let session: ServerSession
    private(set) var events: [ServerSession.Event] = []
    /// Frames of the server's, in order.
    private(set) var frames: [Frame] = []

    /// One frame (RFC 9113 §4.1).
    struct Frame: Hashable {
        var type: UInt8
        var flags: UInt8 = 0
        var stream: UInt32 = 0
        var payload: [UInt8] = []

        var bytes: [UInt8] {
            Frame.number(UInt64(payload.count), 3) + [type, flags] + Frame.number(UInt64(stream), 4) + payload
        }

        static func number(_ value: UInt64, _ byteCount: Int) -> [UInt8] {
            (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * (byteCount - 1 - $0))) }
        }

        static func headers(_ stream: UInt32, _ block: [UInt8], endsStream: Bool = false) -> Frame {
            Frame(type: 1, flags: endsStream ? 5 : 4, stream: stream, payload: block)
        }

        static func data(_ stream: UInt32, _ body: [UInt8], endsStream: Bool = true) -> Frame {
            Frame(type: 0, flags: endsStream ? 1 : 0, stream: stream, payload: body)
        }

        static let settings = Frame(type: 4)
        static let acknowledgement = Frame(type: 4, flags: 1)
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// `:method POST`, `:scheme https`, `:path /3/device/ab`, `:authority a`, without indexing.
    static let block: [UInt8] =
        [0x83, 0x87, 0x04, 12] + Array("/3/device/ab".utf8) + [0x01, 1] + Array("a".utf8)

    init(_ options: ServerSession.Options = .init(), settings: [ServerSession.Setting] = [.streams(10)]) {
        session = ServerSession(options: options)
        session.submit(settings)
        exchange(Self.preface + Frame.settings.bytes)
        exchange(Frame.acknowledgement.bytes)
        events.removeAll()
        frames.removeAll()
    }

    /// Sends bytes, in pieces of a size, and takes what comes of them.
    mutating func exchange(_ bytes: [UInt8], pieces: Int = .max) {
        var rest = bytes[...]
        repeat {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(piece.count)
            session.receive(piece.span)
            collect()
        } while !rest.isEmpty
    }

    /// Sends frames.
    mutating func exchange(_ sent: Frame...) {
        exchange(sent.flatMap(\.bytes))
    }

    /// Takes what there is to take.
    mutating func collect() {
        var output: [UInt8] = []
        session.takeOutput(into: &output)
        session.takeEvents(into: &events)
        while output.count >= 9 {
            let count = output[..<3].reduce(0) { $0 << 8 | Int($1) }
            let stream = output[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(type: output[3], flags: output[4], stream: stream, payload: Array(output[9..<9 + count])))
            output.removeFirst(9 + count)
        }
    }

    /// The requests that came, each as its stream, its fields, and its body.
    var requests: [ServerSession.Request] {
        events.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    /// The faults that were found.
    var violations: [ServerSession.Violation] {
        events.compactMap { if case .violation(let violation) = $0 { violation } else { nil } }
    }
}

extension ServerSession.Request {
    /// The fields as `name=value`.
    var texts: [String] {
        (0..<fields.count).map {
            String(decoding: fields.name(at: $0), as: UTF8.self) + "="
                + String(decoding: fields.value(at: $0), as: UTF8.self)
        }
    }
}
