import APNSHTTP2
import HTTP2
import JSON
import NGHTTP2
import PushHTTP2
import PushModel
import TestSupport

/// What the gateway of a pair does wrong, by the count of all requests it has seen.
struct GatewayMischief {
    var goAwayEvery = Int.max
    var refusedStreamEvery = Int.max
    var settingsEvery = Int.max
    var serverErrorEvery = Int.max
    /// What new settings may say.
    var streamLimits = 1...1_000
    var tableByteCounts: [UInt32] = [4_096]
    var streamWindows: [UInt32] = [65_535]
    var connectionWindow: Int32 = 65_535
    /// How many bytes the payloads of a batch may have: more than one number means payloads of their own.
    var payloadByteCounts: [Int] = [2]
}

/// An app's queue and nghttp2's server, joined by bytes in memory, connection after connection.
final class GatewayPair {
    private let mischief: GatewayMischief
    private var random: SeededGenerator
    private var queue = RequestQueue()
    private var requestCount = 0
    private(set) var connectionCount = 0
    /// How often the gateway has accepted each index.
    private(set) var acceptedCounts: [Int: Int] = [:]
    /// What the client was told to be accepted.
    private(set) var settledCount = 0
    private(set) var violations: [ServerSession.Violation] = []
    private(set) var faults: [ConnectionFault] = []
    /// How many connections fell silent with requests on them.
    private(set) var stallCount = 0
    /// The lengths of bodies of which the head did not say the length.
    private(set) var unsaidLengths: Set<Int> = []

    init(_ count: Int, _ mischief: GatewayMischief, seed: UInt64) {
        self.mischief = mischief
        self.random = SeededGenerator(seed: seed)
        for start in stride(from: 0, to: count, by: 500) {
            queue.append(Work.batch(start..<min(count, start + 500), payloadByteCounts: mischief.payloadByteCounts))
        }
    }

    /// Connects again and again until everything is settled, at most so many times.
    func run(atMost limit: Int) {
        while connectionCount < limit, !queue.isBlocked || queue.pausingCount > 0 {
            queue.release(at: Work.now(1_000_000).moment)
            connectionCount += 1
            var connection = Connection(mischief, at: Work.now().moment)
            // Two rounds in which nothing is said never end by themselves.
            var silentRounds = 0
            while silentRounds < 2 {
                guard let hasSpoken = converse(&connection) else { break }
                silentRounds = hasSpoken ? 0 : silentRounds + 1
            }
            if silentRounds > 0 { stallCount += 1 }
            apply(connection.client.end(handedOver: .max))
        }
    }

    /// One connection: both ends and what is on its way between them.
    private struct Connection: ~Copyable {
        var client: SessionMachine
        var readers = SessionReaders(decoder: HeaderDecoder(listLimit: 16_384), parser: Parser())
        let server = ServerSession()
        var toServer: [UInt8] = []
        var toClient: [UInt8] = []
        var isLeaving = false

        init(_ mischief: GatewayMischief, at now: Moment) {
            var sender = RequestFields.Sender(authority: "localhost")
            sender.app = "com.example.weather"
            client = SessionMachine(SessionOptions(APNSDialect(sender: sender)), at: now)
            client.start(into: &toServer)
            server.setConnectionWindow(mischief.connectionWindow)
            server.submit([.streams(100)])
        }
    }

    /// One round of talk: whether anything was said, `nil` when there is nothing more to say.
    private func converse(_ connection: inout Connection) -> Bool? {
        serve(&connection)
        let hasHeard = !connection.toClient.isEmpty
        var output: [UInt8] = []
        for piece in pieces(of: connection.toClient) {
            apply(
                connection.client.receive(
                    piece.span, at: Work.now().moment, with: &connection.readers, output: &output))
        }
        connection.toClient.removeAll(keepingCapacity: true)
        while let batch = queue.next(atMost: connection.client.room()) {
            var rest = batch
            connection.client.write(&rest, at: Work.now()) { bytes in
                for index in bytes.indices { output.append(bytes[index]) }
            }
            if !rest.isEmpty { queue.putBack(rest) }
            if rest.count == batch.count { break }
        }
        connection.client.pump(into: &output)
        connection.toServer += output
        let isOver = connection.client.isRetired || queue.isBlocked
        if isOver, connection.client.doubtCount == 0, output.isEmpty { return nil }
        return hasHeard || !output.isEmpty
    }

    private func serve(_ connection: inout Connection) {
        for piece in pieces(of: connection.toServer) { connection.server.receive(piece.span) }
        connection.toServer.removeAll(keepingCapacity: true)
        var events: [ServerSession.Event] = []
        connection.server.takeEvents(into: &events)
        for event in events {
            switch event {
            case .request(let request): answer(request, on: &connection)
            case .violation(let violation): violations.append(violation)
            default: break
            }
        }
        connection.server.takeOutput(into: &connection.toClient)
    }

    private func answer(_ request: ServerSession.Request, on connection: inout Connection) {
        requestCount += 1
        let length = request.fields.value(of: "content-length", in: 0..<request.fields.count)
        if length.map({ Array($0) }) != Array(String(request.bodyByteCount).utf8) {
            unsaidLengths.insert(request.bodyByteCount)
        }
        if requestCount.isMultiple(of: mischief.settingsEvery) { changeSettings(connection.server) }
        if requestCount.isMultiple(of: mischief.refusedStreamEvery) {
            return connection.server.reset(request.stream, .refusedStream)
        }
        if connection.isLeaving { return }
        var fields = ResponseFields()
        if requestCount.isMultiple(of: mischief.serverErrorEvery) {
            fields.append(":status", "503")
            connection.server.respond(
                on: request.stream, &fields, body: Array(#"{"reason":"ServiceUnavailable"}"#.utf8))
        } else {
            acceptedCounts[index(of: request), default: 0] += 1
            fields.append(":status", "200")
            connection.server.respond(on: request.stream, &fields)
        }
        if requestCount.isMultiple(of: mischief.goAwayEvery) {
            connection.isLeaving = true
            connection.server.goAway(lastStream: request.stream, .noError, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
        }
    }

    private func changeSettings(_ server: ServerSession) {
        let limit = UInt32(Int.random(in: mischief.streamLimits, using: &random))
        server.submit([
            .streams(limit), .headerTable(mischief.tableByteCounts.randomElement(using: &random) ?? 4_096),
            .streamWindow(mischief.streamWindows.randomElement(using: &random) ?? 65_535),
        ])
    }

    /// The number that a request's token spells.
    private func index(of request: ServerSession.Request) -> Int {
        let path = request.fields.value(of: ":path", in: 0..<request.fields.count) ?? []
        return Int(String(decoding: path.suffix(8), as: UTF8.self), radix: 16) ?? -1
    }

    private func apply(_ news: SessionNews) {
        if let fault = news.fault { faults.append(fault) }
        let consequences = queue.apply(news, at: Work.now(), using: &random)
        settledCount += consequences.settlements.reduce(0) { $0 + ($1.outcome == .accepted ? $1.batch.count : 0) }
    }

    /// The bytes cut at random.
    private func pieces(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var (pieces, start): ([ArraySlice<UInt8>], Int) = ([], 0)
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...20_000, using: &random))
            pieces.append(bytes[start..<end])
            start = end
        }
        return pieces
    }
}
