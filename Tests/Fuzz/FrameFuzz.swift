import HTTP2
import NGHTTP2

/// What a gateway may send to the client's half of HTTP/2. The same must come of the same bytes however they are cut.
enum FrameFuzz {
    /// What came of the bytes, without places in buffers. `limitsChanged` is left out: once in a call is the rule.
    private struct Finding: Equatable {
        var events: [String] = []
        var fault: ConnectionFault?
        var openStreamCount = 0
        var room = 0
        var isClosing = false
    }

    /// The first byte chooses the cuts, the second how many requests wait for an answer, the rest is what the peer sends
    /// behind its first SETTINGS.
    static func run(_ input: Span<UInt8>) {
        guard input.count > 2 else { return }
        let bytes = input.extracting(droppingFirst: 2)
        var cuts = Cuts(seed: input[0])
        let whole = finding(bytes, requestCount: Int(input[1])) { $0 }
        let cut = finding(bytes, requestCount: Int(input[1])) { cuts.next(upTo: $0) }
        promise(whole == cut, "cuts make a difference:\n\(whole)\n\(cut)")
    }

    private static func finding(_ bytes: Span<UInt8>, requestCount: Int, cut: (Int) -> Int) -> Finding {
        var (machine, output) = (ConnectionMachine(options: options), [UInt8]())
        let decoder = HeaderDecoder(listLimit: options.limits.headerListByteCount)
        var (finding, arrivals) = (Finding(), Arrivals())
        machine.start(into: &output)
        open(requestCount, on: &machine, with: decoder, &output)
        var offset = 0
        while offset < bytes.count {
            let end = offset + cut(bytes.count - offset)
            do throws(ConnectionFault) {
                let piece = bytes.extracting(offset..<end)
                try machine.receive(piece, with: decoder, arrivals: &arrivals, output: &output)
            } catch {
                finding.fault = error
                break
            }
            offset = end
            finding.events += described(arrivals)
            arrivals.removeAll()
            machine.pump(into: &output)
        }
        finding.events += described(arrivals)
        (finding.openStreamCount, finding.room) = (machine.openStreamCount, machine.room)
        finding.isClosing = machine.isClosing
        promise(isWhole(output.dropFirst(24)), "the output is not made of whole frames")
        return finding
    }

    /// Requests that wait, and two bodies that wait for windows.
    private static func open(
        _ count: Int, on machine: inout ConnectionMachine, with decoder: HeaderDecoder, _ output: inout [UInt8]
    ) {
        var arrivals = Arrivals()
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        do throws(ConnectionFault) {
            try machine.receive(settings.span, with: decoder, arrivals: &arrivals, output: &output)
        } catch {
            promise(false, "empty SETTINGS were refused")
        }
        promise(machine.isReady && arrivals.events == [.ready], "SETTINGS did not make it ready")
        _ = machine.open(min(count, machine.capacity(bodyByteCount: 100)), bodyByteCount: 100)
        for byteCount in [1, 70_000] where count % 2 == 1 {
            _ = machine.open(body: [UInt8](repeating: 7, count: byteCount))
        }
        machine.pump(into: &output)
    }

    /// Limits that inputs of some thousand bytes reach.
    private static var options: ConnectionMachine.Options {
        var options = ConnectionMachine.Options()
        options.limits.headerBlockByteCount = 600
        options.limits.continuationCount = 3
        options.limits.headerListByteCount = 900
        options.limits.bodyByteCount = 300
        options.limits.heldByteCount = 2_000
        options.limits.idleFrameCount = 40
        options.limits.resetCount = 20
        return options
    }

    private static func described(_ arrivals: Arrivals) -> [String] {
        arrivals.events.compactMap { event in
            switch event {
            case .limitsChanged: return nil
            case .ready, .reset, .pong: return "\(event)"
            case .goAway(let last, let code, let debug): return "goaway \(last) \(code) \(arrivals.bytes[debug])"
            case .response(let stream, let status, let fields, let body):
                let list = fields.map { "\(arrivals.fields.name(at: $0)): \(arrivals.fields.value(at: $0))" }
                return "response \(stream) \(status) \(list) \(arrivals.bytes[body])"
            }
        }
    }

    private static func isWhole(_ output: ArraySlice<UInt8>) -> Bool {
        var rest = output
        while rest.count >= 9 {
            let byteCount = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            guard byteCount <= 16_384, rest.count >= 9 + byteCount else { return false }
            rest = rest.dropFirst(9 + byteCount)
        }
        return rest.isEmpty
    }
}
