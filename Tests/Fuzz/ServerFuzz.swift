import HTTP2
import NGHTTP2

/// What a client may send to the simulator's half of HTTP/2, behind the preface. Every request is answered at once.
enum ServerFuzz {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The first byte chooses the cuts, the second the answers.
    static func run(_ input: Span<UInt8>) {
        guard input.count > 2 else { return }
        var (cuts, choice) = (Cuts(seed: input[0]), input[1])
        let bytes = input.extracting(droppingFirst: 2)
        let session = ServerSession()
        session.submit([.streams(10), .streamWindow(1_000)])
        session.receive(preface.span)
        var (output, offset) = ([UInt8](), 0)
        while offset < bytes.count, !session.isFinished {
            let end = offset + cuts.next(upTo: bytes.count - offset)
            session.receive(bytes.extracting(offset..<end))
            offset = end
            var events: [ServerSession.Event] = []
            session.takeEvents(into: &events)
            for event in events { answer(event, &choice, on: session) }
            session.takeOutput(into: &output)
            promise(output.count < 64 << 20, "a flood of answers")
        }
    }

    private static func answer(_ event: ServerSession.Event, _ choice: inout UInt8, on session: ServerSession) {
        switch event {
        case .request(let request):
            promise(request.body.count <= request.bodyByteCount, "a body longer than its count")
            for index in 0..<request.fields.count { _ = request.fields.value(at: index) }
            answer(request.stream, choice, on: session)
            choice = choice &* 5 &+ 1
            session.recycle(request)
        case .ping(let payload): session.ping(payload)
        case .violation(let violation): promise(!violation.message.isEmpty, "a fault without words")
        case .reset, .goAway, .settings, .settingsAcknowledged, .pong, .closed, .refusedBeyondLimit: return
        }
    }

    private static func answer(_ stream: UInt32, _ choice: UInt8, on session: ServerSession) {
        var fields = ResponseFields()
        switch choice >> 5 {
        case 0: session.reset(stream, .refusedStream)
        case 1: session.goAway(lastStream: stream, .noError, debug: [1, 2])
        case 2: session.noticeShutdown()
        default:
            fields.append(":status", "400")
            session.respond(on: stream, &fields, body: [UInt8](repeating: choice, count: Int(choice) * 20))
        }
    }
}
