import APNSModel
import DoorModel
import PushModel
import TestSupport
import Testing

struct PushCommandTests {
    private static let now = WallTime(epochSeconds: 1_795_262_400)
    private static let digits = String(repeating: "ab", count: 32)
    private static let base64 = "oplo1dgXSxYT5jGmD/L3XjVSRHCT1EkMLBk+/xp5HAY="

    private func send(_ text: String) throws -> SendCommand? {
        guard case .send(let command) = try PushCommand(Array(text.utf8), at: Self.now) else { return nil }
        return command
    }

    private func job(_ text: String) throws -> String {
        var bytes: [UInt8] = []
        try #require(try send(text)).appendJob(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: ["feedback", "FEEDBACK", "FeedBack", "  feedback", "feedback \r\n", "\tfeedback\n"])
    func `feedback is one word, of letters of any case`(text: String) throws {
        #expect(try PushCommand(Array(text.utf8), at: Self.now) == .feedback)
    }

    @Test(arguments: [
        "send 1 1 \(digits) a", "SEND 1 1 \(digits) a", "Send\t1\n1 \u{B} \(digits)  a", "\r\nsend 1 1 \(digits) a \n",
    ])
    func `white space of any kind separates words`(text: String) throws {
        #expect(try job(text) == #"{"tokens":["\#(Self.digits)"],"expiration":0,"alert":"a"}"#)
    }

    @Test func `tokens may be mixed, and the payload is the rest`() throws {
        let job = try job("send +60 3 \(Self.digits.uppercased()) \(Self.base64) \(Self.digits) a  b c")
        let decoded = "a29968d5d8174b1613e631a60ff2f75e3552447093d4490c2c193eff1a791c06"
        #expect(
            job == #"{"tokens":["\#(Self.digits)","\#(decoded)","\#(Self.digits)"],"#
                + #""expiration":1795262460,"alert":"a  b c"}"#)
    }

    @Test(arguments: [
        ("0", 0), ("1", 0), ("-5", 0), ("1795262399", 0), ("1795262400", 0), ("1795262401", 1_795_262_401), ("+0", 0),
        ("+-5", 0), ("+1", 1_795_262_401), ("+604800", 1_795_867_200), ("4294967295", 4_294_967_295),
        ("+2499704895", 4_294_967_295), ("-9223372036854775808", 0), ("00000001795262401", 1_795_262_401),
    ])
    func `an expiry counts from 1970 or from now, and one in the past asks for a single attempt`(
        text: String, seconds: Int64
    ) throws {
        #expect(try send("send \(text) 1 \(Self.digits) a")?.expiration == Expiration(epochSeconds: seconds))
    }

    @Test(arguments: [
        "now", "1h", "+", "-", "++5", "1.5", "0x1", "4294967296", "1343727824000", "+9223372036854775807",
        "99999999999999999999", "000000000000000000001",
    ])
    func `an expiry that is no time is named`(text: String) {
        refuses("send \(text) 1 \(Self.digits) a", .badExpiry(Array(text.utf8)), "Invalid expiry value: \(text)")
    }

    @Test(arguments: ["0", "-1", "a", "1.0", "99999999999999999999", "9223372036854775808"])
    func `a number of tokens that is none is named`(text: String) {
        refuses(
            "send 1 \(text) \(Self.digits) a", .badNumber(Array(text.utf8)), "Invalid number of device tokens: \(text)")
    }

    @Test(arguments: [
        "send", "send 1", "send 1 1", "send 1 1 \(digits)", "send 1 2 \(digits)", "send 1 2 \(digits) \(digits)",
        "send 1 9223372036854775807 \(digits) \(digits)", "send 1 1 \(digits)   ",
    ])
    func `a command with a part missing is refused`(text: String) {
        refuses(text, .incomplete, "Invalid input (expected: send EXPIRY NUMBER TOKEN... PAYLOAD)")
    }

    @Test(arguments: [
        "", " ", "\u{0}", "sendmail 1 1 a b", "feedback now", "feedbacks", "status", "{\"send\":1}", "ſend 1",
    ])
    func `what is no command is refused`(text: String) {
        refuses(text, .unknownCommand, "Invalid input")
    }

    @Test(
        arguments: [
            ("====", nil), ("a", nil), ("ab", nil), ("abc", nil), ("abc==", nil), ("a===", nil), ("ab=c", nil),
            ("YQ==YQ==", nil), ("ab-_", nil), ("ab\u{E9}", nil), ("abcd", 3), ("YQ==", 1), ("YWI=", 2), ("YX==", 1),
            (String(digits.dropLast(4)), 45), (digits + "abcd", 51),
        ] as [(String, Int?)])
    func `anything not 64 characters long is taken as base64`(word: String, count: Int?) {
        let bytes = Array(word.utf8)
        refuses(
            "send 1 1 \(word) a", count.map { .badTokenLength($0, bytes) } ?? .badBase64(bytes),
            count.map { "Wrong device token length (\($0) != 32): \(word)" }
                ?? "Wrong base64 encoding for device token: \(word)")
    }

    @Test(arguments: [digits.dropLast() + "g", "<" + digits.dropFirst(2) + ">", "0x" + digits.dropFirst(2)])
    func `64 characters are hexadecimal digits`(word: String) {
        let text = "Wrong hexadecimal encoding for device token: \(word)"
        refuses("send 1 1 \(word) a", .badHexadecimal(Array(word.utf8)), text)
    }

    @Test func `one bad token of many refuses all`() {
        let words = "\(Self.digits) \(Self.digits) DEADBEAF \(Self.digits)"
        refuses(
            "send 1 4 \(words) a", .badTokenLength(6, Array("DEADBEAF".utf8)),
            "Wrong device token length (6 != 32): DEADBEAF")
    }

    @Test func `only the beginning of a long word is repeated in the reply`() {
        let words = Array("send \(String(repeating: "9", count: 1 << 20)) 1 \(Self.digits) x".utf8)
        let fault = #expect(throws: CommandFault.self) { try PushCommand(words, at: Self.now) }
        let reply = fault.map { CommandReply.refused($0).bytes } ?? []
        #expect(reply.starts(with: "ERROR Invalid expiry value: 999".utf8) && reply.suffix(3) == Array("...".utf8))
        #expect(reply.count < 10_000)
    }

    @Test func `a payload that is not UTF-8 is refused`() {
        let request = Array("send 1 1 \(Self.digits) Gr".utf8) + [0xFC, 0xDF, 0x65]
        #expect(throws: CommandFault.notUTF8) { try PushCommand(request, at: Self.now) }
    }

    private func refuses(_ text: String, _ fault: CommandFault, _ reply: String) {
        #expect(throws: fault) { try PushCommand(Array(text.utf8), at: Self.now) }
        #expect(String(decoding: CommandReply.refused(fault).bytes, as: UTF8.self) == "ERROR " + reply)
    }

    @Test func `what a client writes is read again`() throws {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 1...40, using: &random)
            let tokens = (0..<count).map { _ in (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) } }
            let words = tokens.map { Bool.random(using: &random) ? Self.base64(of: $0) : DeviceToken(bytes: $0).hex }
            let space = [" ", "  ", "\t", "\n"].randomElement(using: &random) ?? " "
            let seconds = Int64.random(in: 0...4_000_000_000, using: &random)
            let parts = ["sEnd", "\(seconds)", "\(count)"] + words + ["a \(seed)"]
            let command = try send(parts.joined(separator: space))
            var bytes: [UInt8] = []
            command?.appendJob(to: &bytes)
            let list = tokens.map { "\"\(DeviceToken(bytes: $0).hex)\"" }.joined(separator: ",")
            let expiration = seconds > Self.now.epochSeconds ? seconds : 0
            #expect(
                String(decoding: bytes, as: UTF8.self)
                    == #"{"tokens":[\#(list)],"expiration":\#(expiration),"alert":"a \#(seed)"}"#, "seed \(seed)")
        }
    }

    /// As `feedback` writes it.
    private static func base64(of token: [UInt8]) -> String {
        let reply = CommandReply.feedback(
            [LostToken(DeviceToken(bytes: token), isGone: false, goneSince: nil)], format: .base64)
        return String(decoding: reply.bytes.dropFirst("OK 0:".utf8.count), as: UTF8.self)
    }
}
