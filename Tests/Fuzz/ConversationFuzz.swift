import HTTP2
import NGHTTP2

/// Our half of HTTP/2 in talk with nghttp2's, in an order that the input gives: who does what next, how the bytes are
/// cut, and what happens to cross on the way. Neither may find fault with the other, and no request may get lost.
final class ConversationFuzz {
    /// Made anew for each run: LSan does not see through the tagged pointers in it, and would call it a leak at the end.
    private let head = RequestHead(fields: [
        .init(":method", .text("POST")), .init(":scheme", .text("https"), kept: .field),
        .init(":authority", .text("localhost"), kept: .field),
        .init(":path", .hole(prefix: Array("/3/device/".utf8), byteCount: 8)),
        .init("apns-topic", .text("com.example.app"), kept: .field),
    ])

    private var machine = ConnectionMachine(options: options)
    private let decoder = HeaderDecoder(listLimit: 16_384)
    private let session = ServerSession()
    private var sheet = RequestSheet(byteLimit: 20_000)
    private var arrivals = Arrivals()
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    /// Requests that the server has not answered.
    private var waiting: [UInt32] = []
    /// Streams that were opened and got no outcome, nor were given up.
    private var open: Set<UInt32> = []
    private var lastOfGoAway = UInt32.max
    /// Streams that the server refused because of a limit that we had not acknowledged.
    private var refused: Set<UInt32> = []

    private static var options: ConnectionMachine.Options {
        var options = ConnectionMachine.Options()
        options.streamLimit = 50
        return options
    }

    static func run(_ input: Span<UInt8>) {
        var (bytes, conversation) = (Bytes(input), ConversationFuzz())
        conversation.machine.start(into: &conversation.toServer)
        conversation.session.submit([])
        while let action = bytes.next(), let argument = bytes.next() {
            conversation.act(action % 12, argument)
        }
        conversation.end()
    }

    private func act(_ action: UInt8, _ argument: UInt8) {
        switch action {
        case 0: deliverToServer(Int(argument) * 9)
        case 1: deliverToClient(Int(argument) * 9)
        case 2: openWhole(count: Int(argument) & 31, bodyByteCount: Int(argument >> 5) * 99)
        case 3: openInPieces(bodyByteCount: Int(argument) * 300)
        case 4: machine.pump(into: &toServer)
        case 5: answer(Int(argument))
        case 6: session.submit([setting(argument)])
        case 7: waiting.randomlyRemove(argument).map { session.reset($0, argument & 1 == 0 ? .refusedStream : .cancel) }
        case 8: giveUp(argument)
        case 9: machine.ping(UInt64(argument), into: &toServer)
        case 10: session.ping(UInt64(argument))
        default: leave(argument)
        }
    }

    private func setting(_ argument: UInt8) -> ServerSession.Setting {
        let value = UInt32(argument >> 2)
        return switch argument & 3 {
        case 0: .streams(value)
        case 1: .streamWindow(value * 900)
        case 2: .headerTable(value * 80)
        default: .frame(16_384 + value * 100)
        }
    }

    private func openWhole(count: Int, bodyByteCount: Int) {
        let count = min(count, machine.capacity(bodyByteCount: bodyByteCount))
        guard count > 0 else { return }
        var rest = count
        while rest > 0 {
            let block = machine.encoder.encode(head)
            sheet.layOut(block, body: [UInt8](repeating: 1, count: bodyByteCount), count: block.isRepeatable ? rest : 1)
            let first = machine.open(sheet.count, bodyByteCount: bodyByteCount)
            sheet.setStreams(from: first)
            fillHoles()
            sheet.withFrames { frames in toServer += frames.array }
            note(first, sheet.count)
            rest -= sheet.count
        }
    }

    private func fillHoles() {
        for request in 0..<sheet.count {
            let offset = sheet.offset(ofHole: 0, request: request)
            sheet.withHoles { bytes in
                for index in offset..<offset + 8 { bytes[index] = UInt8(ascii: "a") }
            }
        }
    }

    private func openInPieces(bodyByteCount: Int) {
        guard machine.room > 0, bodyByteCount > 0 else { return }
        var block = machine.encoder.encode(head)
        for hole in block.holes {
            block.bytes.replaceSubrange(hole..<hole + 8, with: repeatElement(UInt8(ascii: "b"), count: 8))
        }
        let stream = machine.open(body: [UInt8](repeating: 2, count: bodyByteCount))
        machine.appendHead(block, stream: stream, into: &toServer)
        note(stream, 1)
    }

    private func note(_ first: UInt32, _ count: Int) {
        for index in 0..<count {
            let isNew = open.insert(first + 2 * UInt32(index)).inserted
            promise(isNew, "a stream was opened twice")
        }
    }

    private func giveUp(_ argument: UInt8) {
        guard let stream = open.min().map({ $0 + 2 * UInt32(argument & 7) }), open.contains(stream) else { return }
        machine.reset(stream, .cancel, into: &toServer)
        open.remove(stream)
    }

    private func leave(_ argument: UInt8) {
        switch argument & 3 {
        case 0: session.noticeShutdown()
        case 1: session.goAway(lastStream: session.lastStream, .noError, debug: [argument])
        case 2: machine.close(into: &toServer)
        default: return
        }
    }

    private func answer(_ argument: Int) {
        for _ in 0..<min(waiting.count, argument & 7) {
            var fields = ResponseFields()
            fields.append(":status", argument & 8 == 0 ? "200" : "400")
            fields.append("apns-id", "\(argument)", isIndexed: argument & 16 == 0)
            let body = [UInt8](repeating: 3, count: argument & 32 == 0 ? 0 : argument)
            session.respond(on: waiting.removeFirst(), &fields, body: body)
        }
    }
}

extension ConversationFuzz {
    private func deliverToServer(_ count: Int) {
        let piece = Array(toServer.prefix(count))
        toServer.removeFirst(piece.count)
        session.receive(piece.span)
        takeFromServer()
    }

    private func takeFromServer() {
        session.takeOutput(into: &toClient)
        var events: [ServerSession.Event] = []
        session.takeEvents(into: &events)
        for event in events {
            switch event {
            case .request(let request): waiting.append(request.stream)
            case .reset(let stream, _), .closed(let stream, _): waiting.removeAll { $0 == stream }
            case .violation(let violation): promise(false, "the server complains: \(violation)")
            case .refusedBeyondLimit(let stream): refused.insert(stream)
            case .goAway, .settings, .settingsAcknowledged, .ping, .pong: continue
            }
        }
    }

    private func deliverToClient(_ count: Int) {
        session.takeOutput(into: &toClient)
        let piece = Array(toClient.prefix(count))
        toClient.removeFirst(piece.count)
        do throws(ConnectionFault) {
            try machine.receive(piece.span, with: decoder, arrivals: &arrivals, output: &toServer)
        } catch {
            promise(false, "the client complains: \(error)")
        }
        for event in arrivals.events {
            switch event {
            case .response(let stream, _, _, _), .reset(let stream, _):
                promise(open.remove(stream) != nil, "an outcome for stream \(stream), which has none to come")
            case .goAway(let last, _, _): lastOfGoAway = min(lastOfGoAway, last)
            case .ready, .limitsChanged, .pong: continue
            }
        }
        arrivals.removeAll()
        for stream in machine.openStreams(above: lastOfGoAway) {
            machine.abandon(stream)
            open.remove(stream)
        }
    }

    /// Answers and delivers everything: then each request must have its outcome.
    private func end() {
        session.submit([.streamWindow(65_535), .streams(100)])
        for _ in 0..<400 where !toServer.isEmpty || !toClient.isEmpty || !waiting.isEmpty || !open.isEmpty {
            deliverToServer(.max)
            answer(7)
            deliverToClient(.max)
            machine.pump(into: &toServer)
        }
        // Behind a GOAWAY of ours nghttp2 1.52 may leave out the RST_STREAM of the last stream it has refused.
        promise(open.subtracting(refused).isEmpty, "streams \(open.sorted()) never got an outcome")
        promise(machine.openStreamCount == open.count, "\(machine.openStreamCount) of \(open.count) streams are open")
    }
}

extension [UInt32] {
    /// Takes one out, which the argument chooses.
    fileprivate mutating func randomlyRemove(_ argument: UInt8) -> UInt32? {
        isEmpty ? nil : remove(at: Int(argument) % count)
    }
}
