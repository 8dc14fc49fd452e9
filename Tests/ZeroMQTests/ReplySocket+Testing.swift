import LinuxIO
import Testing
import ZeroMQ

extension ReplySocket {
    /// Waits for the next request.
    ///
    /// - Throws: `SystemError` after a minute without one.
    func nextRequest() async throws -> ReplyRequest {
        while true {
            if let request = try receive() { return request }
            if await wait(until: .now + .seconds(60)).contains(.timedOut) { throw SystemError.timedOut("receive") }
        }
    }

    /// Waits for the next request and replies to it.
    ///
    /// - Returns: The request.
    func reply(_ reply: [UInt8]) async throws -> [UInt8]? {
        let request = try await nextRequest()
        #expect(try send(reply, to: request.returnPath) == .sent)
        return request.bytes
    }
}

/// Any port of this host.
let anyPort = "tcp://127.0.0.1:0"
