import HTTP2
import TestSupport

/// A server that checks every byte of the client's against the rules and answers at random.
struct ModelServer {
    struct Stream {
        var window: Int
        var path = ""
        var body: [UInt8] = []
        var hasEnded = false
        var hasAnswered = false
    }

    struct Answer: Hashable {
        var status: Int
        var body: [UInt8]
    }

    var output: [UInt8] = []
    private(set) var problems: [String] = []
    private(set) var open: [UInt32: Stream] = [:]
    /// Whole requests: path and body by stream.
    private(set) var requests: [UInt32: Stream] = [:]
    /// What was answered to whom.
    private(set) var answers: [UInt32: Answer] = [:]
    private(set) var resets: Set<UInt32> = []

    private let decoder = PlainDecoder()
    private var bytes: [UInt8] = []
    private var isPastPreface = false
    private var highest: UInt32 = 0
    private var window = 65_535
    private var (initialWindow, frameLimit, streamLimit) = (65_535, 16_384, Int.max)
    private var unacknowledged: [[(UInt16, UInt32)]] = []

    /// Takes what the client wrote, cut anywhere.
    mutating func receive(_ more: ArraySlice<UInt8>) {
        bytes += more
        if !isPastPreface {
            guard bytes.count >= 24 else { return }
            check(bytes.starts(with: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)), "preface")
            bytes.removeFirst(24)
            isPastPreface = true
        }
        let (frames, rest) = Frame.split(bytes)
        bytes = rest
        for frame in frames { receive(frame) }
    }

    private mutating func receive(_ frame: Frame) {
        check(frame.payload.count <= frameLimit, "frame of \(frame.payload.count) bytes")
        switch frame.type {
        case 0: receiveData(frame)
        case 1: receiveHeaders(frame)
        case 3: open[frame.stream] = nil
        case 4 where frame.flags == 1: apply(unacknowledged.isEmpty ? [] : unacknowledged.removeFirst())
        case 6 where frame.flags == 0: output += Frame(type: 6, flags: 1, payload: frame.payload).bytes
        case 4, 6, 8: break
        default: check(false, "frame of type \(frame.type), \(frame.payload)")
        }
    }

    private mutating func receiveHeaders(_ frame: Frame) {
        check(frame.stream & 1 == 1 && frame.stream > highest, "stream \(frame.stream) after \(highest)")
        check(open.count < streamLimit, "\(open.count) streams open, \(streamLimit) allowed")
        check(frame.flags == 4, "HEADERS with flags \(frame.flags)")
        highest = frame.stream
        var stream = Stream(window: initialWindow)
        do throws(HeaderBlockFault) {
            let fields = try decoder.decode(frame.payload)
            stream.path = fields.first { $0.name == ":path" }?.value ?? ""
        } catch {
            check(false, "header block of \(frame.stream)")
        }
        open[frame.stream] = stream
    }

    private mutating func receiveData(_ frame: Frame) {
        window -= frame.payload.count
        check(window >= 0, "connection's window \(window)")
        guard var stream = open[frame.stream] else {
            return check(frame.stream <= highest, "DATA on idle stream \(frame.stream)")
        }
        stream.window -= frame.payload.count
        check(frame.payload.isEmpty || stream.window >= 0, "window \(stream.window) of \(frame.stream)")
        check(!stream.hasEnded, "DATA after the end of \(frame.stream)")
        stream.body += frame.payload
        stream.hasEnded = frame.flags == 1
        open[frame.stream] = stream.hasEnded && stream.hasAnswered ? nil : stream
        if stream.hasEnded { requests[frame.stream] = stream }
    }

    private mutating func apply(_ values: [(UInt16, UInt32)]) {
        for (id, value) in values {
            switch id {
            case 1: decoder.sizeLimit = Int(value)
            case 3: streamLimit = Int(value)
            case 4:
                for stream in open.keys { open[stream]?.window += Int(value) - initialWindow }
                initialWindow = Int(value)
            case 5: frameLimit = Int(value)
            default: break
            }
        }
    }

    private mutating func check(_ isRight: Bool, _ problem: String) {
        if !isRight { problems.append(problem) }
    }
}

/// What it says.
extension ModelServer {
    /// Changes settings; they count once the client has acknowledged them.
    mutating func set(_ values: [(UInt16, UInt32)]) {
        unacknowledged.append(values)
        output += Frame.settings(values).bytes
    }

    mutating func widen(_ stream: UInt32, by increment: Int) {
        if stream == 0 { window += increment } else { open[stream]?.window += increment }
        output += Frame.windowUpdate(stream, UInt32(increment)).bytes
    }

    mutating func reset(_ stream: UInt32) {
        guard open.removeValue(forKey: stream) != nil, answers[stream] == nil else { return }
        resets.insert(stream)
        output += Frame.reset(stream, .refusedStream).bytes
    }

    /// Answers in one of the ways a server may.
    mutating func answer(_ stream: UInt32, using random: inout SeededGenerator) {
        guard let request = open[stream], !request.hasAnswered else { return }
        open[stream]?.hasAnswered = true
        if request.hasEnded { open[stream] = nil }
        if .random(in: 0..<5, using: &random) == 0 {
            output += Frame.headers(stream, literal(":status", "103"), flags: 4).bytes
        }
        guard Bool.random(using: &random) else {
            answers[stream] = Answer(status: 200, body: [])
            output += Frame.headers(stream, ok + literal("apns-id", "\(stream)")).bytes
            return
        }
        let body = Array("{\"stream\":\(stream)}".utf8)
        answers[stream] = Answer(status: 400, body: body)
        write(body, to: stream, using: &random)
    }

    private mutating func write(_ body: [UInt8], to stream: UInt32, using random: inout SeededGenerator) {
        let block = bad + literal("apns-id", "\(stream)")
        let cut = Int.random(in: 0...block.count, using: &random)
        output += Frame.headers(stream, Array(block[..<cut]), flags: 0).bytes
        output += Frame.continuation(stream, Array(block[cut...])).bytes
        let half = Int.random(in: 0...body.count, using: &random)
        let padding = UInt8.random(in: 0...9, using: &random)
        let padded = [padding] + body[..<half] + [UInt8](repeating: 0, count: Int(padding))
        output += Frame.data(stream, padded, flags: 8).bytes
        let hasTrailers = Bool.random(using: &random)
        output += Frame.data(stream, Array(body[half...]), flags: hasTrailers ? 0 : 1).bytes
        if hasTrailers { output += Frame.headers(stream, literal("x", "y")).bytes }
    }
}
