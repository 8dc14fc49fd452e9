import HTTP2
import LinuxIO
import NGHTTP2
import OpenSSL
import PushHTTP2
import PushModel
import SecureTransport

/// An HTTP/2 connection for one request at a time: to Apple's channel management, or to a token endpoint.
///
/// Owned by whoever makes the requests, on the reactor.
final class RequestConnection {
    /// The answer to a request.
    struct Response {
        /// The HTTP status.
        let status: Int
        /// The complete body.
        let body: ArraySlice<UInt8>
        fileprivate let fields: HeaderFields
        fileprivate let range: Range<Int>

        /// Returns the value of a header field, if there is one.
        func value(of name: String) -> ArraySlice<UInt8>? { fields.value(of: name, in: range) }
    }

    private let stream: SecureStream
    private var machine: ConnectionMachine
    private let decoder: HeaderDecoder
    private var arrivals = Arrivals()
    private var output: [UInt8] = []

    /// Begins a connection over a stream that has agreed on HTTP/2, with answers of at most `bodyLimit` bytes.
    init(_ stream: SecureStream, bodyLimit: Int) {
        self.stream = stream
        var options = ConnectionMachine.Options()
        options.limits.bodyByteCount = bodyLimit
        machine = ConnectionMachine(options: options)
        decoder = HeaderDecoder(listLimit: options.limits.headerListByteCount)
        machine.start(into: &output)
    }

    /// Whether another request can be sent.
    var isUsable: Bool { !machine.isClosing }

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: `RequestFault`; `CancellationError`. The connection is unusable then.
    func answer(
        to head: RequestHead, body: [UInt8], until deadline: ContinuousClock.Instant
    ) async throws -> Response {
        var progress = Progress()
        do {
            while true {
                if progress.stream == nil, machine.room > 0 { begin(head, body, &progress) }
                let finished = machine.pump(into: &output)
                if let number = progress.stream, finished.contains(number) { progress.hasBody = true }
                try send(&progress)
                if let response = try read(&progress) { return response }
                // SETTINGS have arrived.
                if progress.stream == nil, machine.room > 0 { continue }
                try await wait(until: deadline)
            }
        } catch let end as End {
            stream.abort()
            throw progress.fault(end, handedOver: stream.handedOverByteCount)
        } catch {
            stream.abort()
            throw error
        }
    }

    /// Sends a GOAWAY and shuts the connection down cleanly.
    func close() async {
        machine.close(into: &output)
        var progress = Progress()
        guard (try? send(&progress)) != nil else { return stream.abort() }
        _ = await stream.shutdown(until: .now + .seconds(1))
    }

    /// How far a request has got.
    private struct Progress {
        var stream: UInt32?
        /// Whether the body, if there is one, is written.
        var hasBody = false
        /// The position of its last byte in the stream of ciphertext.
        var end: Int?

        /// Returns what the end of the connection means for the request: a server that cannot have all of it has not acted
        /// on it.
        func fault(_ end: End, handedOver: Int) -> RequestFault {
            let hasLeft = self.end.map { handedOver >= $0 } ?? false
            return hasLeft && !end.isUnprocessed ? .unanswered(end.fault) : .unreached(end.fault)
        }
    }

    /// Why a request gets no answer.
    private struct End: Error {
        let fault: GatewayFault
        /// Whether the server said that it has not processed the request.
        var isUnprocessed = false
    }

    private func begin(_ head: RequestHead, _ body: [UInt8], _ progress: inout Progress) {
        let number = machine.open(body: body)
        machine.appendHead(machine.encoder.encode(head), stream: number, into: &output)
        (progress.stream, progress.hasBody) = (number, body.isEmpty)
    }

    private func send(_ progress: inout Progress) throws {
        if !output.isEmpty {
            let bytes = output
            output.removeAll(keepingCapacity: true)
            try ending { try stream.write(bytes.span) }
            if progress.hasBody, progress.end == nil { progress.end = stream.encryptedByteCount }
        }
        // Answers may still wait to be read if the server has closed its side.
        _ = try? stream.flush()
    }

    private func read(_ progress: inout Progress) throws -> Response? {
        while true {
            var received: [UInt8] = []
            switch try ending({ try stream.read(into: &received) }) {
            case .wouldBlock: return nil
            case .closed: throw End(fault: GatewayFault("the server closed the connection"))
            case .bytes: break
            }
            arrivals.removeAll()
            do throws(ConnectionFault) {
                try machine.receive(received.span, with: decoder, arrivals: &arrivals, output: &output)
            } catch {
                throw End(fault: GatewayFault("the server violated the protocol: \(error.message) (\(error.code))"))
            }
            for event in arrivals.events { if let response = try handle(event, progress) { return response } }
            try send(&progress)
        }
    }

    private func handle(_ event: Arrivals.Event, _ progress: Progress) throws -> Response? {
        switch event {
        case .response(let number, let status, let fields, let body) where number == progress.stream:
            return Response(status: status, body: arrivals.bytes[body], fields: arrivals.fields, range: fields)
        case .reset(let number, let code) where number == progress.stream:
            let fault = GatewayFault("the server reset the request (\(code))")
            throw End(fault: fault, isUnprocessed: code == .refusedStream)
        case .goAway(let last, let code, let debug):
            let info = SessionNews.GoAwayInfo(code: code, debug: arrivals.bytes[debug])
            let isUnprocessed = progress.stream.map { $0 > last } ?? true
            // A request up to the last one may still be answered.
            guard isUnprocessed else { return nil }
            throw End(fault: GatewayFault("the server asked for a new connection: \(info)"), isUnprocessed: true)
        case .ready, .limitsChanged, .response, .reset, .pong: return nil
        }
    }

    private func wait(until deadline: ContinuousClock.Instant) async throws {
        let readiness = await stream.wait(for: .readable, until: deadline)
        if readiness.contains(.cancelled) { throw CancellationError() }
        if readiness == .timedOut { throw End(fault: GatewayFault("the server does not answer")) }
    }

    private func ending<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as TLSError where error.isOwnCertificateRefused {
            throw End(fault: GatewayFault(error.message, hint: error.hint), isUnprocessed: true)
        } catch {
            throw End(fault: GatewayFault("the connection failed: \(error)"))
        }
    }
}

/// Why a request got no answer.
package enum RequestFault: Error, Hashable, Sendable {
    /// The server cannot have acted on the request. It may be repeated.
    case unreached(GatewayFault)
    /// The server may have acted on the request. Look before you repeat one that is not idempotent.
    case unanswered(GatewayFault)

    /// What went wrong.
    package var cause: GatewayFault {
        switch self {
        case .unreached(let fault), .unanswered(let fault): fault
        }
    }
}
