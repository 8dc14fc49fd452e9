import APNSHTTP2
import JSON
import NGHTTP2
import PushHTTP2
import PushModel

/// A session, and frames by hand for what its gateway says. The payloads have two bytes.
struct SessionRig: ~Copyable {
    var client: SessionMachine
    private var readers = SessionReaders(decoder: HeaderDecoder(listLimit: 16_384), parser: Parser())
    /// How many bytes the session has written.
    private(set) var written = 0
    /// What it wrote besides requests since it was emptied.
    var output: [UInt8] = []

    /// A session whose gateway allows bodies of so many bytes on each stream.
    init(streamWindow: UInt8 = 255) {
        let dialect = APNSDialect(sender: RequestFields.Sender(authority: "localhost"))
        client = SessionMachine(SessionOptions(dialect), at: .zero)
        client.start(into: &output)
        _ = hear(Self.frame(4, [0, 4, 0, 0, 0, streamWindow]))
    }

    /// Writes all of a batch, or as much as there is room for.
    mutating func write(_ batch: Batch, at now: Moment = .zero, handedOver: Int = 0) {
        var (rest, byteCount) = (batch, 0)
        let instant = Instant(now, Work.now().wall)
        while !rest.isEmpty, client.room() > 0 { client.write(&rest, at: instant) { byteCount += $0.count } }
        written += byteCount
        client.mark(offset: written, handedOver: handedOver)
    }

    /// Takes bytes from the gateway, and writes what they call for and make room for.
    mutating func hear(_ bytes: [UInt8], at now: Moment = .zero) -> SessionNews {
        let news = client.receive(bytes.span, at: now, with: &readers, output: &output)
        client.pump(into: &output)
        written += output.count
        output = []
        client.mark(offset: written, handedOver: 0)
        return news
    }

    /// Looks for what is overdue. The gateway's kernel has what ours has unless told otherwise.
    mutating func tick(at now: Moment, handedOver: Int, acknowledged: Int? = nil) -> SessionNews {
        client.tick(at: now, handedOver: handedOver, acknowledged: acknowledged ?? handedOver, output: &output)
    }

    /// A question whether we live.
    static let ping = frame(6, [0, 0, 0, 0, 0, 0, 0, 1])

    /// A frame without flags.
    static func frame(_ type: UInt8, stream: UInt8 = 0, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, 0, 0, 0, 0, stream] + payload
    }
}
