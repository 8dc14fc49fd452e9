import APNSHTTP2
import HTTP2
import JSON
import LinuxIO
import NGHTTP2
import OpenSSL
import PushHTTP2
import PushModel
import SecureTransport

/// One HTTP/2 connection to the channel management, for one request at a time.
///
/// Owned by `ChannelService`, on the reactor.
final class ChannelConnection {
    private let stream: SecureStream
    private let sender: RequestFields.Sender
    private var machine: ConnectionMachine
    private let decoder: HeaderDecoder
    private var parser = JSON.Parser()
    private var arrivals = Arrivals()
    private var output: [UInt8] = []

    /// Begins a connection over a stream that has agreed on HTTP/2.
    init(_ stream: SecureStream, _ sender: RequestFields.Sender) {
        (self.stream, self.sender) = (stream, sender)
        var options = ConnectionMachine.Options()
        options.limits.bodyByteCount = ChannelReply.bodyLimit
        machine = ConnectionMachine(options: options)
        decoder = HeaderDecoder(listLimit: options.limits.headerListByteCount)
        machine.start(into: &output)
    }

    /// Whether another request can be sent.
    var isUsable: Bool { !machine.isClosing }

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: `ChannelService.Fault`; `CancellationError`. The connection is unusable then.
    func answer(to request: ChannelRequest, until deadline: ContinuousClock.Instant) async throws -> ChannelReply {
        var progress = Progress()
        do {
            while true {
                if progress.stream == nil, machine.room > 0 { begin(request, &progress) }
                let finished = machine.pump(into: &output)
                if let number = progress.stream, finished.contains(number) { progress.hasBody = true }
                try send(&progress)
                if let reply = try read(request, &progress) { return reply }
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

        /// Returns what the end of the connection means for the request: a gateway that cannot have all of it has not acted
        /// on it.
        func fault(_ end: End, handedOver: Int) -> ChannelService.Fault {
            let hasLeft = self.end.map { handedOver >= $0 } ?? false
            return hasLeft && !end.isUnprocessed ? .unanswered(end.fault) : .unreached(end.fault)
        }
    }

    /// Why a request gets no answer.
    private struct End: Error {
        let fault: GatewayFault
        /// Whether the gateway said that it has not processed the request.
        var isUnprocessed = false
    }

    private func begin(_ request: ChannelRequest, _ progress: inout Progress) {
        let number = machine.open(body: request.body)
        machine.appendHead(machine.encoder.encode(request.head(from: sender)), stream: number, into: &output)
        (progress.stream, progress.hasBody) = (number, request.body.isEmpty)
    }

    private func send(_ progress: inout Progress) throws {
        if !output.isEmpty {
            let bytes = output
            output.removeAll(keepingCapacity: true)
            try ending { try stream.write(bytes.span) }
            if progress.hasBody, progress.end == nil { progress.end = stream.encryptedByteCount }
        }
        // Answers may still wait to be read if the gateway has closed its side.
        _ = try? stream.flush()
    }

    private func read(_ request: ChannelRequest, _ progress: inout Progress) throws -> ChannelReply? {
        while true {
            var received: [UInt8] = []
            switch try ending({ try stream.read(into: &received) }) {
            case .wouldBlock: return nil
            case .closed: throw End(fault: GatewayFault("the gateway closed the connection"))
            case .bytes: break
            }
            arrivals.removeAll()
            do throws(ConnectionFault) {
                try machine.receive(received.span, with: decoder, arrivals: &arrivals, output: &output)
            } catch {
                throw End(fault: GatewayFault("the gateway violated the protocol: \(error.message) (\(error.code))"))
            }
            for event in arrivals.events { if let reply = try handle(event, request, progress) { return reply } }
            try send(&progress)
        }
    }

    private func handle(
        _ event: Arrivals.Event, _ request: ChannelRequest, _ progress: Progress
    ) throws -> ChannelReply? {
        switch event {
        case .response(let number, let status, let fields, let body) where number == progress.stream:
            let response = ChannelReply.Response(
                status: status, channel: arrivals.fields.value(of: "apns-channel-id", in: fields),
                body: arrivals.bytes[body])
            return ChannelReply(response, to: request, parser: &parser)
        case .reset(let number, let code) where number == progress.stream:
            let fault = GatewayFault("the gateway reset the request (\(code))")
            throw End(fault: fault, isUnprocessed: code == .refusedStream)
        case .goAway(let last, let code, let debug):
            let info = SessionNews.GoAwayInfo(code: code, debug: arrivals.bytes[debug])
            let isUnprocessed = progress.stream.map { $0 > last } ?? true
            // A request up to the last one may still be answered.
            guard isUnprocessed else { return nil }
            throw End(fault: GatewayFault("the gateway asked for a new connection: \(info)"), isUnprocessed: true)
        case .ready, .limitsChanged, .response, .reset, .pong: return nil
        }
    }

    private func wait(until deadline: ContinuousClock.Instant) async throws {
        let readiness = await stream.wait(for: .readable, until: deadline)
        if readiness.contains(.cancelled) { throw CancellationError() }
        if readiness == .timedOut { throw End(fault: GatewayFault("the gateway does not answer")) }
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
