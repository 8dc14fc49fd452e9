import HTTP2
import TestSupport

/// A client and a model server that act at random, with bytes under way between them in both directions.
struct ModelRun: ~Copyable {
    private var rig = Rig(.init(streamLimit: 20), settings: nil)
    private(set) var server = ModelServer()
    private var random: SeededGenerator
    private var sheet = RequestSheet(byteLimit: 4_000)
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    private(set) var bodies: [UInt32: [UInt8]] = [:]
    private(set) var outcomes: [UInt32: ModelServer.Answer?] = [:]
    private(set) var problems: [String] = []
    private var forgotten: Set<UInt32> = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        rig.machine.start(into: &toServer)
        server.set([(3, 5), (4, 100)])
    }

    var openStreamCount: Int { rig.machine.openStreamCount }

    /// Acts `count` times, then lets everything come to its end.
    mutating func run(steps count: Int) throws {
        for _ in 0..<count {
            actAsServer()
            actAsClient()
            try carry(all: false)
        }
        server.set([(1, 4_096), (3, 100), (4, 100_000), (5, 16_384)])
        server.widen(0, by: 1 << 24)
        for _ in 0..<6 {
            try carry(all: true)
            rig.machine.pump(into: &toServer)
            try carry(all: true)
            for stream in server.open.keys.sorted() { server.answer(stream, using: &random) }
        }
    }

    private mutating func actAsServer() {
        let stream = server.open.keys.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: server.set([(4, .random(in: 0...9_000, using: &random))])
        case 1: server.set([(3, .random(in: 0...12, using: &random)), (0xf0f0, 1)])
        case 2: server.set([(1, .random(in: 0...300, using: &random)), (1, .random(in: 0...5_000, using: &random))])
        case 3: server.set([(5, .random(in: 16_384...20_000, using: &random))])
        case 4, 5: server.widen(0, by: .random(in: 1...9_000, using: &random))
        case 6, 7: if let stream { server.widen(stream, by: .random(in: 1...5_000, using: &random)) }
        case 8: if let stream { server.reset(stream) }
        case 9: server.output += Frame.ping(1).bytes + Frame(type: 0xee, payload: [1]).bytes
        default: if let stream { server.answer(stream, using: &random) }
        }
    }

    private mutating func actAsClient() {
        rig.machine.pump(into: &toServer)
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2: sendFast()
        case 3: sendSlow()
        case 4: rig.machine.ping(7, into: &toServer)
        default:
            let open = rig.machine.openStreams(above: 0)
            guard let stream = open.randomElement(using: &random), Int.random(in: 0..<4, using: &random) == 0 else {
                return
            }
            rig.machine.reset(stream, .cancel, into: &toServer)
            forgotten.insert(stream)
        }
    }

    private func head() -> RequestHead {
        RequestHead(fields: [
            .init(":method", .text("POST")), .init(":authority", .text("localhost"), kept: .field),
            .init(":path", .hole(prefix: Array("/".utf8), byteCount: 4)),
            .init("apns-topic", .text("topic.\(bodies.count % 3)"), kept: .field),
        ])
    }

    private mutating func randomBody() -> [UInt8] {
        (0..<Int.random(in: 0...3_000, using: &random)).map { UInt8(truncatingIfNeeded: $0 + bodies.count) }
    }

    private mutating func sendFast() {
        let (body, head) = (randomBody(), head())
        for _ in 0..<3 where rig.machine.capacity(bodyByteCount: body.count) > 0 {
            let encoded = rig.machine.encoder.encode(head)
            let wanted = encoded.isRepeatable ? rig.machine.capacity(bodyByteCount: body.count) : 1
            sheet.layOut(encoded, body: body, count: wanted)
            let first = rig.machine.open(sheet.count, bodyByteCount: body.count)
            sheet.setStreams(from: first)
            for request in 0..<sheet.count {
                let stream = first + 2 * UInt32(request)
                bodies[stream] = body
                let offset = sheet.offset(ofHole: 0, request: request)
                fill(stream, at: offset)
            }
            toServer += written()
        }
    }

    private mutating func fill(_ stream: UInt32, at offset: Int) {
        sheet.withHoles { bytes in
            for (place, byte) in stream.bytes.enumerated() { bytes[offset + place] = byte & 127 }
        }
    }

    private func written() -> [UInt8] {
        var bytes: [UInt8] = []
        sheet.withFrames { frames in bytes = frames.indices.map { frames[$0] } }
        return bytes
    }

    private mutating func sendSlow() {
        guard rig.machine.room > 0 else { return }
        let body = randomBody() + [7]
        var encoded = rig.machine.encoder.encode(head())
        let stream = rig.machine.open(body: body)
        bodies[stream] = body
        for (place, byte) in stream.bytes.enumerated() { encoded.bytes[encoded.holes[0] + place] = byte & 127 }
        rig.machine.appendHead(encoded, stream: stream, into: &toServer)
    }

    /// Brings bytes to either side, a piece or all that there are.
    private mutating func carry(all: Bool) throws {
        let up = all ? toServer.count : .random(in: 0...toServer.count, using: &random)
        server.receive(toServer[..<up])
        toServer.removeFirst(up)
        toClient += server.output
        server.output = []
        var down = all ? toClient.count : .random(in: 0...toClient.count, using: &random)
        while down > 0 {
            let piece = Int.random(in: 1...down, using: &random)
            rig.output = toServer
            rig.arrivals.removeAll()
            try rig.receive(Array(toClient[..<piece]))
            toServer = rig.output
            toClient.removeFirst(piece)
            down -= piece
            for event in rig.arrivals.events { note(event) }
        }
    }

    private mutating func note(_ event: Arrivals.Event) {
        switch event {
        case .response(let stream, let status, let fields, let body):
            if outcomes[stream] != nil || forgotten.contains(stream) { problems.append("\(stream) ended twice") }
            outcomes[stream] = .some(.init(status: status, body: Array(rig.arrivals.bytes[body])))
            let isNamed = rig.arrivals.fields.value(of: "apns-id", in: fields)?.elementsEqual("\(stream)".utf8)
            if isNamed != true { problems.append("the fields of another stream for \(stream)") }
        case .reset(let stream, let code):
            if outcomes[stream] != nil || forgotten.contains(stream) { problems.append("\(stream) ended twice") }
            if code != .refusedStream { problems.append("\(stream) ended in \(code)") }
            outcomes[stream] = .some(nil)
        case .goAway: problems.append("GOAWAY")
        case .ready, .limitsChanged, .pong: break
        }
    }
}
