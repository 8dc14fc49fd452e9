import Document
import DoorModel
import JSON
import JobFormat
import PushModel
import Testing

/// What the daemon makes of the jobs of commands.
struct SendCheckTests {
    private static let now = WallTime(epochSeconds: 1_795_262_400)
    private static let token = String(repeating: "ab", count: 32)

    private func context(_ carrier: Carrier) -> JobContext {
        JobContext(job: JobID(bits: 7), droppedAt: Self.now, carrier: carrier) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
    }

    /// The fault of a payload, and what is sent if it has none.
    private func judge(
        _ payload: String, count: Int = 1, over carrier: Carrier = .http2
    ) throws -> (fault: CommandFault?, sent: [String]) {
        let tokens = [String](repeating: Self.token, count: count).joined(separator: " ")
        let request = Array("send +60 \(count) \(tokens) \(payload)".utf8)
        guard case .send(let command) = try PushCommand(request, at: Self.now) else { return (.unknownCommand, []) }
        var (job, parser) = ([UInt8](), JSON.Parser())
        command.appendJob(to: &job)
        let fault = command.fault(of: job, parser: &parser, in: context(carrier))
        var reader = DocumentJobReader(parsing: job, with: &parser, context: context(carrier))
        var sent: [String] = []
        while let chunk = reader.next() {
            for batch in chunk.batches {
                sent += batch.indices.map { String(decoding: batch.payload(at: $0), as: UTF8.self) }
            }
        }
        return (fault, sent)
    }

    @Test(
        arguments: [
            ("hello", #"{"aps":{"alert":"hello"}}"#), ("\"a\" \\", #"{"aps":{"alert":"\"a\" \\"}}"#),
            ("[1]", #"{"aps":{"alert":"[1]"}}"#), ("Grüße\t😀", #"{"aps":{"alert":"Grüße\t😀"}}"#),
            (#"{"aps":{"alert":"a","badge":1}, "n": 9007199254740993}"#, nil),
            (#"{ "aps" : { "content-available" : 1 } }"#, nil),
        ] as [(String, String?)])
    func `an object is sent as it is, and anything else as the text of an alert`(payload: String, sent: String?) throws
    {
        let result = try judge(payload, count: 3)
        let expected = sent ?? String(payload.filter { $0 != " " })
        #expect(result.fault == nil && result.sent == [expected, expected, expected])
    }

    @Test(arguments: [
        "{", "{}}", #"{"a":1},"tokens":["00"]"#, #"{"aps":{"alert":"a"}} x"#, "{'aps':1}", "{\"a\":\"\u{1}\"}",
    ])
    func `an object that is none is refused with its text`(payload: String) throws {
        let fault = try judge(payload).fault
        #expect(fault == .badJSON(Array(payload.utf8)))
        let reply = CommandReply.refused(.badJSON(Array(payload.utf8)))
        #expect(String(decoding: reply.bytes, as: UTF8.self) == "ERROR Invalid JSON payload: \(payload)")
    }

    @Test(arguments: [
        (Carrier.simple, 256), (.enhanced, 256), (.frame, 2048), (.http2, 4096),
    ])
    func `the limit of the payload is that of the app's protocol`(carrier: Carrier, limit: Int) throws {
        let rest = #"{"aps":{"alert":""}}"#.utf8.count
        let longest = String(repeating: "a", count: limit - rest)
        #expect(try judge(longest, over: carrier).fault == nil)
        #expect(try judge(#"{"aps":{"alert":"\#(longest)"}}"#, over: carrier).fault == nil)
        let fault = CommandFault.payloadTooLong(byteCount: limit + 1, limit: limit)
        #expect(try judge(longest + "a", over: carrier).fault == fault)
        #expect(try judge(#"{"aps":{"alert":"\#(longest)a"}}"#, over: carrier).fault == fault)
        let text = String(decoding: CommandReply.refused(fault).bytes, as: UTF8.self)
        #expect(text == "ERROR Payload too long (\(limit + 1) > \(limit))")
    }

    @Test(arguments: [#"{"alert":"a"}"#, #"{"aps":null}"#, #"{"aps":1}"#])
    func `another fault is told in the daemon's words`(payload: String) throws {
        guard case .other(let text) = try judge(payload).fault else {
            Issue.record("no fault")
            return
        }
        #expect(text.hasPrefix("payload"))
    }
}
