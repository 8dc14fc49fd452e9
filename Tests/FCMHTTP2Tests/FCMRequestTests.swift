import FCMHTTP2
import HTTP2
import JSON
import NGHTTP2
import PushHTTP2
import PushModel
import Testing

/// The bytes of FCM's requests, read by libnghttp2's decoder.
struct FCMRequestTests {
    private static let now = WallTime(epochSeconds: 1_800_000_000)
    private static let token = "dQw4w9WgXcQ:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx"

    private func batch(
        _ addresses: [String], _ payloads: [String], adjust: (inout Batch.Header) -> Void = { _ in }
    ) -> Batch {
        var (packed, bodies) = (PackedBytes(), PackedBytes())
        for address in addresses { packed.append(Array(address.utf8)) }
        for payload in payloads { bodies.append(Array(payload.utf8)) }
        var header = Batch.Header(job: JobID(bits: 1), attributes: Attributes(), onDoubt: .resend)
        header.attributes.addressKind = .registrationToken
        adjust(&header)
        return Batch(
            header: header, firstIndex: 0, addresses: packed,
            payloads: payloads.count == 1 ? .shared(Payload(bytes: Array(payloads[0].utf8))) : .each(bodies))
    }

    /// Writes a batch on a new connection to nghttp2's server, which allows bodies of so many bytes, and returns what it reads.
    private func requests(
        _ batch: Batch, streamWindow: UInt32 = 65_535, authorization: String? = "Bearer ya29.a"
    ) throws -> [(fields: [String: String], body: String)] {
        let dialect = FCMDialect(authority: "fcm.googleapis.com", project: "weather", authorization: authorization)
        var session = SessionMachine(SessionOptions(dialect), at: .zero)
        var readers = SessionReaders(decoder: HeaderDecoder(listLimit: 16_384), parser: JSON.Parser())
        let server = ServerSession()
        server.submit([.streams(100), .streamWindow(streamWindow)])
        var (output, input, rest) = ([UInt8](), [UInt8](), batch)
        session.start(into: &output)
        for _ in 0..<10 {
            server.receive(output.span)
            output = []
            server.takeOutput(into: &input)
            _ = session.receive(input.span, at: .zero, with: &readers, output: &output)
            input = []
            session.write(&rest, at: Instant(.zero, Self.now)) { span in
                for index in span.indices { output.append(span[index]) }
            }
            session.pump(into: &output)
        }
        var events: [ServerSession.Event] = []
        server.takeEvents(into: &events)
        return try events.compactMap { event in
            if case .violation(let violation) = event { throw Fault(message: violation.message) }
            guard case .request(let request) = event else { return nil }
            let fields = (0..<request.fields.count).map { index in
                (
                    String(decoding: request.fields.name(at: index), as: UTF8.self),
                    String(decoding: request.fields.value(at: index), as: UTF8.self)
                )
            }
            return (
                Dictionary(fields, uniquingKeysWith: { "\($0), \($1)" }), String(decoding: request.body, as: UTF8.self)
            )
        }
    }

    /// What the server complains about.
    private struct Fault: Error {
        let message: String
    }

    /// The name of a message is read if its job wants lines about accepted notifications.
    @Test(arguments: [true, false]) func `an acceptance names the message`(recordsAll: Bool) throws {
        let dialect = FCMDialect(authority: "localhost", project: "weather", authorization: nil)
        var session = SessionMachine(SessionOptions(dialect), at: .zero)
        var readers = SessionReaders(decoder: HeaderDecoder(listLimit: 16_384), parser: JSON.Parser())
        let server = ServerSession()
        server.submit([.streams(100)])
        var (output, input, events) = ([UInt8](), [UInt8](), [ServerSession.Event]())
        session.start(into: &output)
        server.takeOutput(into: &input)
        _ = session.receive(input.span, at: .zero, with: &readers, output: &output)
        var rest = batch([Self.token], ["\"data\":{}"]) { $0.recordsAll = recordsAll }
        session.write(&rest, at: Instant(.zero, Self.now)) { span in
            for index in span.indices { output.append(span[index]) }
        }
        server.receive(output.span)
        server.takeEvents(into: &events)
        for case .request(let request) in events {
            var fields = ResponseFields()
            fields.append(":status", "200")
            server.respond(
                on: request.stream, &fields,
                body: Array("{\n  \"name\": \"projects/weather/messages/0:17%ab\"\n}\n".utf8))
        }
        input = []
        server.takeOutput(into: &input)
        let news = session.receive(input.span, at: .zero, with: &readers, output: &output)
        #expect(news.accepted.notificationCount == 1)
        #expect(news.uniqueIDs == (recordsAll ? [JobID(bits: 1): [0: "projects/weather/messages/0:17%ab"]] : [:]))
    }

    @Test func `a request has the address in its body`() throws {
        let requests = try requests(batch([Self.token], ["\"data\":{\"a\":\"1\"}"]))
        #expect(requests.count == 1)
        let body = "{\"message\":{\"token\":\"\(Self.token)\",\"data\":{\"a\":\"1\"}}}"
        #expect(requests.first?.body == body)
        #expect(
            requests.first?.fields == [
                ":method": "POST", ":scheme": "https", ":authority": "fcm.googleapis.com",
                ":path": "/v1/projects/weather/messages:send", "content-type": "application/json",
                "x-goog-api-format-version": "2", "authorization": "Bearer ya29.a",
                "content-length": "\(body.utf8.count)",
            ])
    }

    @Test(arguments: [
        (Address.Kind.installation, "fid", "cIyyTOs0RTapKNhrbHV9hA"), (.topic, "topic", "storm"),
        (.condition, "condition", "'a' in topics && 'b' in topics"),
    ])
    func `each kind of address has its member`(kind: Address.Kind, key: String, address: String) throws {
        let requests = try requests(batch([address], ["\"data\":{}"]) { $0.attributes.addressKind = kind })
        #expect(requests.map(\.body) == ["{\"message\":{\"\(key)\":\"\(address)\",\"data\":{}}}"])
    }

    @Test func `recipients of one payload differ in the address`() throws {
        let tokens = (0..<20).map { "dQw4w9WgXcQ:APA91b\(100 + $0)" }
        let requests = try requests(batch(tokens, ["\"data\":{}"]), authorization: nil)
        #expect(requests.map(\.body) == tokens.map { "{\"message\":{\"token\":\"\($0)\",\"data\":{}}}" })
        #expect(Set(requests.map { $0.fields["content-length"] }).count == 1)
    }

    @Test(arguments: [
        (Int64?.some(86_400), "86400"), (1, "1"), (0, "0"), (-5, "0"), (29 * 86_400, "2419200"), (nil, "0"),
    ])
    func `the time to live is what is left when the message is written`(life: Int64?, seconds: String) throws {
        let payload = "\"android\":{\"ttl\":\"\u{01}s\"},\"webpush\":{\"headers\":{\"TTL\":\"\u{01}\"}}"
        let expiration = life.map { Expiration(epochSeconds: Self.now.epochSeconds + $0) } ?? .singleAttempt
        let requests = try requests(batch([Self.token], [payload]) { $0.attributes.expiration = expiration })
        let body = payload.replacing("\u{01}", with: seconds)
        #expect(requests.map(\.body) == ["{\"message\":{\"token\":\"\(Self.token)\",\(body)}}"])
    }

    @Test func `a message without members has no stray comma`() throws {
        #expect(try requests(batch([Self.token], [""])).map(\.body) == ["{\"message\":{\"token\":\"\(Self.token)\"}}"])
    }

    /// The peer's window is smaller than the body, which goes out in pieces.
    @Test func `a body in pieces is whole`() throws {
        let payload = "\"data\":{\"a\":\"\(String(repeating: "x", count: 300))\"}"
        let requests = try requests(batch([Self.token], [payload]), streamWindow: 100)
        #expect(requests.map(\.body) == ["{\"message\":{\"token\":\"\(Self.token)\",\(payload)}}"])
    }
}
