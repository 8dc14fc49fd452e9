import APNSBinary
import PushModel
import Testing

struct ReplyVectorTests {
    @Test(arguments: Vector.all("error-response"))
    func `a reply decodes into status and identifier`(vector: Vector) throws {
        let reply = try #require(try ErrorReply(vector.bytes))
        #expect(reply.status.rawValue == vector.decoded.status)
        #expect(reply.identifier == vector.decoded.identifier)
    }

    @Test(arguments: Vector.all("error-response"))
    func `a reply is encoded to the same bytes`(vector: Vector) throws {
        let status = Status(rawValue: try #require(vector.decoded.status))
        var bytes: [UInt8] = []
        ErrorReply(status: status, identifier: try #require(vector.decoded.identifier)).encode(to: &bytes)
        #expect(bytes == vector.bytes)
    }

    @Test(arguments: Vector.all("error-response"))
    func `a status has the class of the vectors`(vector: Vector) throws {
        let status = Status(rawValue: try #require(vector.decoded.status))
        let classes: [String: FailureClass] = [
            "none": .retryNow, "retry-now": .retryNow, "server-error": .serverError, "bad-token": .token,
            "bad-message": .message, "app-misconfigured": .app,
        ]
        #expect(status.failureClass == classes[try #require(vector.decoded.statusClass)])
        #expect(status.acceptsNamed == (vector.decoded.namedNotificationFailed == false))
    }

    @Test(arguments: Vector.all("error-response"))
    func `a reply is assembled from any reads`(vector: Vector) throws {
        for chunks in [vector.chunks, vector.bytes.map { [$0] }] {
            var machine = PipelineMachine(options: .init())
            for chunk in chunks.dropLast() { #expect(try machine.receive(chunk) == nil) }
            let reply = try #require(try machine.receive(chunks[chunks.count - 1]))
            #expect(reply.identifier == vector.decoded.identifier)
        }
    }

    @Test func `a truncated reply is none`() throws {
        var machine = PipelineMachine(options: .init())
        #expect(try machine.receive(Vector.named("error-truncated").bytes) == nil)
    }

    @Test func `another command than 8 is refused at its first byte`() throws {
        let bytes = try Vector.named("error-wrong-command").bytes
        var machine = PipelineMachine(options: .init())
        #expect(throws: DecodingError.unexpectedCommand(9)) { try machine.receive(bytes.prefix(1)) }
    }

    @Test func `bytes behind a reply do not change it`() throws {
        var machine = PipelineMachine(options: .init())
        let bytes = try Vector.named("error-status-8").bytes
        #expect(try machine.receive(bytes + bytes)?.identifier == 0x0102_0304)
    }
}
