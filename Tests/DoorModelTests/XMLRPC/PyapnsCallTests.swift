import Document
import DoorModel
import JSON
import JobFormat
import PushModel
import Testing

struct PyapnsCallTests {
    private static func array(_ values: String...) -> String {
        "<array><data>" + values.map { "<value>\($0)</value>" }.joined() + "</data></array>"
    }

    private static func note(_ text: String) -> String {
        let aps = "<struct><member><name>alert</name><value>\(text)</value></member></struct>"
        return "<struct><member><name>aps</name><value>\(aps)</value></member></struct>"
    }

    private func notify(_ tokens: String, _ notes: String) throws -> Notify {
        guard case .notify(let notify) = try pyapnsCall(xml("news", tokens, notes, method: "notify")) else {
            throw MethodFault.unknownMethod("not notify")
        }
        return notify
    }

    // MARK: notify

    @Test(arguments: [
        ("0a 0b", note("x"), #"{"tokens":["0a0b"],"payload":{"aps":{"alert":"x"}}}"#, 1),
        ("<string> 0A  0b </string>", array(note("x")), #"{"tokens":["0A0b"],"payload":{"aps":{"alert":"x"}}}"#, 1),
        (array("0a"), array(note("x")), #"{"tokens":["0a"],"payload":{"aps":{"alert":"x"}}}"#, 1),
        (array("0a", "0 b"), note("x"), #"{"tokens":["0a","0b"],"payload":{"aps":{"alert":"x"}}}"#, 2),
        (
            array("0a", "0b"), array(note("x"), note("y")),
            #"{"tokens":["0a","0b"],"payloads":[{"aps":{"alert":"x"}},{"aps":{"alert":"y"}}]}"#, 2
        ),
        (array("&lt;0A 0b&gt;"), note("&lt;\n"), #"{"tokens":["<0A0b>"],"payload":{"aps":{"alert":"<\n"}}}"#, 1),
        ("0a", "<struct/>", #"{"tokens":["0a"],"payload":{}}"#, 1),
    ])
    func `a call to notify becomes a job`(tokens: String, notes: String, job: String, count: Int) throws {
        let notify = try notify(tokens, notes)
        #expect(notify.app == "news")
        #expect(String(decoding: notify.job, as: UTF8.self) == job)
        #expect(notify.count == count)
    }

    @Test(arguments: [(array(), array()), (array(), note("x"))])
    func `empty lists send nothing`(tokens: String, notes: String) throws {
        #expect(try notify(tokens, notes).count == 0)
    }

    @Test(arguments: [
        ("<nil/>", note("x"), "token_or_token_list: must be a string or an array (got nil)"),
        ("<int>7</int>", note("x"), "token_or_token_list: must be a string or an array (got a number)"),
        (note("x"), note("x"), "token_or_token_list: must be a string or an array (got an object)"),
        (array("0a", "<nil/>"), note("x"), "token_or_token_list[1]: must be a string (got null)"),
        ("0a", "text", "aps_dict_or_list: must be a struct or an array (got a string)"),
        ("0a", "<nil/>", "aps_dict_or_list: must be a struct or an array (got nil)"),
        ("0a", array("text"), "aps_dict_or_list[0]: must be a struct (got a string)"),
        ("0a", array(), lengths(1, 0)), ("0a", array(note("x"), note("y")), lengths(1, 2)),
        (array("0a", "0b"), array(note("x")), lengths(2, 1)), (array(), array(note("x")), lengths(0, 1)),
    ])
    func `notify refuses other types and unequal lists`(tokens: String, notes: String, message: String) {
        let fault = fault(of: xml("news", tokens, notes, method: "notify"))
        #expect(fault?.text == message)
        #expect(fault?.code == -32602)
    }

    @Test(arguments: [
        ("zz", "token_or_token_list: must be hexadecimal; character 1 is `z`"),
        (array("0a", "0xab"), "token_or_token_list[1]: must be hexadecimal; character 2 is `x`"),
        (array("0a", "Cg=="), "token_or_token_list[1]: must be hexadecimal; character 2 is `g`"),
        (array("0a\n"), "token_or_token_list[0]: must be hexadecimal; character 3 is U+000A"),
    ])
    func `notify refuses tokens that are not hexadecimal`(tokens: String, message: String) {
        let fault = fault(of: xml("news", tokens, Self.note("x"), method: "notify"))
        #expect(fault?.text == message && fault?.code == 500)
    }

    private static func lengths(_ tokens: Int, _ payloads: Int) -> String {
        "there are \(tokens) tokens and \(payloads) notifications; "
            + "send lists of the same length, or one notification as a struct for all tokens"
    }

    @Test func `the daemon reads the jobs of notify`() throws {
        let calls = [
            try notify(Self.array("0a0b", "&lt;0c0d>", "0e"), Self.note("x")),
            try notify(Self.array("0a0b", "0c0d", "0e"), Self.array(Self.note("x"), Self.note("y"), Self.note("z"))),
        ]
        for call in calls {
            let context = JobContext(
                job: JobID(bits: 1), droppedAt: WallTime(epochSeconds: 1_795_262_400), carrier: .frame
            ) { text throws(Diagnostic) in
                var parser = JSON.Parser()
                return try parser.parse(text)
            }
            var parser = JSON.Parser()
            var reader = DocumentJobReader(parsing: call.job, with: &parser, context: context)
            var tokens: [[UInt8]] = []
            while let chunk = reader.next() {
                for batch in chunk.batches { tokens += batch.indices.map { Array(batch.addressBytes(at: $0)) } }
            }
            #expect(tokens == [[0x0A, 0x0B], [0x0C, 0x0D], [0x0E]])
            #expect(reader.summary.failure == nil && reader.summary.rejectedCount == 0)
        }
    }

    // MARK: provision and feedback

    @Test(arguments: [
        (["news", "/a/b.pem", "sandbox"], Provision.Environment.sandbox, 15),
        (["news", "/a/b.pem", "production", "<int>60</int>"], .production, 60),
        (["news", "/a/b.pem", "sandbox", "<nil/>"], .sandbox, 15),
        (["news", "/a/b.pem", "sandbox", "<int>15</int>", "<boolean>0</boolean>"], .sandbox, 15),
    ])
    func `a call to provision names certificate and environment`(
        values: [String], environment: Provision.Environment, timeout: Int
    ) throws {
        let call = try pyapnsCall(Self.provision(values))
        guard case .provision(let provision) = call else { return #expect(Bool(false), "\(call)") }
        #expect(provision.app == "news" && provision.certificate == .path("/a/b.pem"))
        #expect(provision.environment == environment && provision.timeout == .seconds(timeout))
    }

    private static func provision(_ values: [String]) -> [UInt8] {
        let parameters = values.map { "<param><value>\($0)</value></param>" }.joined()
        return Array("<methodCall><methodName>provision</methodName><params>\(parameters)</params></methodCall>".utf8)
    }

    @Test func `a certificate as text is told from a path and does not show itself`() throws {
        let pem = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----BEGIN CERTIFICATE-----\nMIIB\n"
        let call = try pyapnsCall(Self.provision(["news", pem, "sandbox"]))
        guard case .provision(let provision) = call else { return #expect(Bool(false), "\(call)") }
        #expect(provision.certificate == .pem(pem))
        #expect("\(call)".contains("PEM of \(pem.utf8.count) bytes") && !"\(call)".contains("c2VjcmV0"))
    }

    @Test(arguments: [
        ([], -32602, "the call has 0 parameters; call provision(app_id, cert, environment, timeout=15)"),
        (["a", "b"], -32602, "the call has 2 parameters; call provision(app_id, cert, environment, timeout=15)"),
        (["<int>1</int>", "b", "sandbox"], -32602, "app_id: must be a string (got a number)"),
        (["../a", "b", "sandbox"], -32602, "app_id: must be up to 200 bytes of UTF-8"),
        (["a", "<nil/>", "sandbox"], -32602, "cert: must be a string (got nil)"),
        (["a", "", "sandbox"], -32602, "cert: is empty; give the path of a PEM file, or its text"),
        (["a", "b", "sandbox", "15"], -32602, "timeout: must be a whole number, 1 or greater (got a string)"),
        (["a", "b", "sandbox", "<int>0</int>"], -32602, "timeout: must be a whole number, 1 or greater"),
        (["a", "b", "sandbox", "<i8>9999999999</i8>"], -32602, "timeout: must be a whole number, 1 or greater"),
        (
            ["a", "b", "Sandbox"], 401,
            "Invalid environment provided `Sandbox`. Valid environments are `sandbox` and `production`"
        ),
    ])
    func `provision refuses what it cannot use`(values: [String], code: Int, message: String) {
        let fault = fault(of: Self.provision(values))
        #expect(fault?.code == code)
        #expect(fault?.text.hasPrefix(message) == true, "\(fault?.text ?? "accepted")")
    }

    @Test func `a call to feedback names an app`() throws {
        #expect(try pyapnsCall(xml("news", method: "feedback")) == .feedback(app: "news"))
        #expect(fault(of: xml(method: "feedback"))?.text == "the call has 0 parameters; call feedback(app_id)")
    }

    @Test(arguments: ["config", "notify2", "Notify", "system.listMethods"])
    func `another method does not exist`(name: String) {
        let fault = fault(of: xml("news", method: name))
        #expect(fault?.code == -32601)
        #expect(fault?.text == "the method `\(name)` does not exist; call `provision`, `notify` or `feedback`")
    }

    @Test func `an unknown app has pyapns' code and text`() {
        #expect(MethodFault.unknownApp.code == 404)
        #expect(MethodFault.unknownApp.text == "The app_id specified has not been provisioned.")
    }
}
