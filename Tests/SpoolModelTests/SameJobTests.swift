import Document
import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

/// One job, to be written down in every form.
private struct Job {
    var tokens: [String] = []
    var badges: [Int?] = []
    var alert = ""
    var priority: Int?
    var custom: Int?

    init(_ random: inout SeededGenerator) {
        alert = ["Hello", "é 🐢", "no", "a\"b\\c", "17"].randomElement(using: &random) ?? ""
        priority = [nil, 10, 5].randomElement(using: &random) ?? nil
        custom = [nil, .max, .min, 0].randomElement(using: &random) ?? nil
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            let isBad = Int.random(in: 0..<10, using: &random) == 0
            tokens.append(isBad ? "bad!" : String(UInt64.random(in: 1 << 60 ... .max, using: &random), radix: 16))
            badges.append(Bool.random(using: &random) ? nil : Int.random(in: 0...9, using: &random))
        }
    }

    private var quoted: String { "\"" + alert.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
    private var shared: [String] {
        ["\"alert\":\(quoted)"] + (priority.map { ["\"priority\":\($0)"] } ?? [])
            + (custom.map { ["\"custom\":{\"n\":\($0)}"] } ?? [])
    }
    private var recipients: [String] {
        zip(tokens, badges).map { token, badge in
            "{\"token\":\"\(token)\"" + (badge.map { ",\"badge\":\($0)" } ?? "") + "}"
        }
    }

    var json: String { "{\(shared.joined(separator: ",")),\"recipients\":[\(recipients.joined(separator: ",\n"))]}" }

    var lines: String { "{\"defaults\":{\(shared.joined(separator: ","))}}\n" + recipients.map { $0 + "\n" }.joined() }

    var yaml: String {
        var text = "alert: \(quoted)\n" + (priority.map { "priority: \($0)\n" } ?? "")
        text += (custom.map { "custom:\n  n: \($0)\n" } ?? "") + "recipients:\n"
        for (token, badge) in zip(tokens, badges) {
            text += "- token: \"\(token)\"\n" + (badge.map { "  badge: \($0)\n" } ?? "")
        }
        return text
    }
}

struct SameJobTests {
    @Test func `equal jobs in JSON, YAML and lines make the same notifications`() {
        for seed in UInt64(0)..<150 {
            var random = SeededGenerator(seed: seed)
            let job = Job(&random)
            let (a, b, c) = (json(job.json), yaml(job.yaml), lines(job.lines))
            #expect(a.summary.failure == nil && a.sent == b.sent && a.sent == c.sent, "seed \(seed)")
            #expect(
                a.chunks.map { $0.batches.map(\.indices) } == b.chunks.map { $0.batches.map(\.indices) }, "seed \(seed)"
            )
        }
    }

    @Test func `both passes over a document see the same`() {
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            let job = json(Job(&random).json)
            #expect(job.sent.count == job.summary.recipientCount, "seed \(seed)")
            #expect(job.sent.count { $0.reason != nil } == job.summary.rejectedCount, "seed \(seed)")
        }
    }

    @Test func `damaged jobs never trap`() {
        for seed in UInt64(0)..<1_500 {
            var random = SeededGenerator(seed: seed)
            let job = Job(&random)
            let text = [job.json, job.yaml, job.lines].randomElement(using: &random) ?? ""
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty { damage(&bytes, &random) }
            let damaged = String(decoding: bytes, as: UTF8.self)
            for read in [json(damaged), yaml(damaged), lines(damaged), lines(damaged, context(.simple, inPlace: true))]
            {
                #expect(read.summary.recipientCount >= read.summary.rejectedCount, "seed \(seed)")
                #expect(read.summary.failure == nil || read.summary.fault != nil, "seed \(seed)")
            }
        }
    }

    private func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(Array("{}[]\",:0\n-".utf8).randomElement(using: &random) ?? 0, at: index)
        default: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &random))
        }
    }
}

struct PrefixTests {
    private let texts = [
        (FileName.Form.json, #"{"tokens": ["0A", "0B"], "alert": "x", "badge": 0}"# + "\n"),
        (.yaml, "alert: x\ncount: 2\ntokens:\n- 0A\n- 0B\n"), (.yaml, "alert: x\ntokens:\n- 0A\n- 0B\n...\n"),
        (.lines, #"{"job":{"count":2},"defaults":{"alert":"x"}}"# + "\n\"0A\"\n\"0B\"\n"),
        (.yaml, "alert: x\ntokens:\n- 0A\n- 0B\n"), (.lines, #"{"defaults":{"alert":"x"}}"# + "\n\"0A\"\n\"0B\"\n"),
    ]

    private func read(_ prefix: String, _ form: FileName.Form) -> ReadJob {
        switch form {
        case .json: json(prefix, context(inPlace: true))
        case .yaml: yaml(prefix, context(inPlace: true))
        case .lines: lines(prefix, context(inPlace: true))
        }
    }

    @Test(arguments: 0..<4)
    func `no prefix of a sealed job is whole, unless only white space or the seal is missing`(index: Int) {
        let (form, text) = texts[index]
        let whole = read(text, form)
        #expect(whole.summary.failure == nil && whole.summary.isSealed && whole.sent.count == 2)
        for length in 0..<text.utf8.count {
            let job = read(String(decoding: Array(text.utf8.prefix(length)), as: UTF8.self), form)
            guard job.summary.failure == nil, job.summary.isSealed else { continue }
            #expect(job.sent == whole.sent, "\(length)")
        }
    }

    @Test(arguments: 4..<6)
    func `a prefix of an unsealed job never says that it is sealed`(index: Int) {
        let (form, text) = texts[index]
        for length in 0..<text.utf8.count {
            let job = read(String(decoding: Array(text.utf8.prefix(length)), as: UTF8.self), form)
            #expect(!job.summary.isSealed || job.summary.failure != nil, "\(length)")
        }
    }
}
