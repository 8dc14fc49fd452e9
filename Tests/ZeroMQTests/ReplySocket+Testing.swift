import LinuxIO
import ZeroMQ

extension ReplySocket {
    /// Waits for the next request.
    ///
    /// - Throws: `SystemError` after a minute without one.
    func nextRequest() async throws -> Request {
        while true {
            if let request = try receive() { return request }
            if await wait(until: .now + .seconds(60)).contains(.timedOut) { throw SystemError.timedOut("receive") }
        }
    }

    /// Waits for the next request, which must have this text, and replies to it.
    func reply(_ reply: String, to request: String) async throws -> Bool {
        let isExpected = try await nextRequest() == .whole(Array(request.utf8))
        try send(Array(reply.utf8))
        return isExpected
    }
}

/// Any port of this host.
let anyPort = "tcp://127.0.0.1:0"
