import Document
import JSON
import JobFormat
import TestSupport
import Testing

/// Payloads that are known to pass all checks, because they are like one that did.
struct PayloadPatternTests {
    private static let head = Array(#"{"token":"\#(String(repeating: "b1", count: 32))","push_type":"#.utf8)

    /// The verdict on a recipient, its line, and where the payload is.
    private static func check(
        _ payload: [UInt8], _ type: String
    ) -> (verdict: RecipientCheck<JSON.Parser>.Verdict, line: [UInt8], place: Range<Int>) {
        let start = head + Array(#""\#(type)","payload":"#.utf8)
        let (line, place) = (start + payload + Array("}".utf8), start.count..<start.count + payload.count)
        var check = RecipientCheck(parser: JSON.Parser())
        return (check.verdict(on: line, payload: place, in: context(), isPattern: true), line, place)
    }

    private static func pattern(_ payload: String, _ type: String) -> PayloadPattern? {
        guard case .sendable(let pattern?) = check(Array(payload.utf8), type).verdict else { return nil }
        return pattern
    }

    /// Payloads that pass, with their push types.
    private static let good = [
        (#"{"aps":{"alert":"A text","badge":12,"sound":"default"},"order":"a-17","n":[1,2.5,{"t":"u"}]}"#, "alert"),
        (#"{"aps": {"alert":{"title":"T","loc-args":["a","b"]},"interruption-level":"passive"}, "k": null}"#, "alert"),
        (#"{"k":"v","aps":{"content-available":1}}"#, "background"),
        (#"{"aps":{"event":"update","timestamp":1795262400,"content-state":{"home":2,"by":"x"}}}"#, "liveactivity"),
        (
            #"{"aps":{"event":"end","timestamp":1,"content-state":{},"dismissal-date":5,"alert":{"body":"é"}}}"#,
            "liveactivity"
        ),
    ]

    @Test(arguments: [
        #"{"aps":{"alert":"B","badge":0},"k":{"a":"xyz","n":7}}"#,
        #"{"aps":{"alert":"ö 😀","badge":99},"k":{"a":"","n":0}}"#,
        #"{"aps":{"alert":"\n\"\u00e9","badge":1},"k":{"a":"a","n":10}}"#,
    ])
    func `other texts and numbers need no check`(payload: String) throws {
        let usual = #"{"aps":{"alert":"a rather long text","badge":1},"k":{"a":"a rather long text","n":1}}"#
        let pattern = try #require(Self.pattern(usual, "alert"))
        let (_, line, place) = Self.check(Array(payload.utf8), "alert")
        #expect(pattern.fits(place, of: line))
    }

    @Test(arguments: [
        #"{"aps":{"content-available":0},"k":"v"}"#, #"{"aps":{"content-available":1},"q":"v"}"#,
        #"{"aps":{"content-available":1},"k":"vw"}"#, #"{"aps":{"content-available":1},"k":"\"}"#,
        #"{"aps":{"content-available":1},"k":""}}"#, #"{"aps":{"content-available":1},"k":"v""#,
        #"{"aps":{"content-available":1},"k":1 }"#,
    ])
    func `anything else is checked`(payload: String) throws {
        let pattern = try #require(Self.pattern(#"{"aps":{"content-available":1},"k":"v"}"#, "background"))
        let (_, line, place) = Self.check(Array(payload.utf8), "background")
        #expect(!pattern.fits(place, of: line))
    }

    @Test(arguments: [(1, true), (18, true), (19, false), (400, false)])
    func `a number that may be too large for a parser is checked`(digitCount: Int, fits: Bool) throws {
        let (digits, room) = (String(repeating: "9", count: digitCount), String(repeating: "x", count: 400))
        let pattern = try #require(Self.pattern(#"{"aps":{"alert":"\#(room)","badge":1}}"#, "alert"))
        let (_, line, place) = Self.check(Array(#"{"aps":{"alert":"a","badge":\#(digits)}}"#.utf8), "alert")
        #expect(pattern.fits(place, of: line) == fits)
    }

    @Test func `what fits passes the checks`() throws {
        var fitCount = 0
        for seed in UInt64(0)..<(isFullRun ? 200_000 : 4_000) {
            var random = SeededGenerator(seed: seed)
            let (payload, type) = try #require(Self.good.randomElement(using: &random))
            let pattern = try #require(Self.pattern(payload, type), "\(payload)")
            let (verdict, line, place) = Self.check(Self.changed(payload, &random), type)
            guard pattern.fits(place, of: line) else { continue }
            fitCount += 1
            guard case .sendable = verdict else {
                Issue.record("seed \(seed): \(String(decoding: line, as: UTF8.self)) is refused: \(verdict)")
                continue
            }
        }
        #expect(fitCount > 400)
    }

    /// Changes some bytes of a payload, or some of its texts and numbers.
    private static func changed(_ payload: String, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(payload.utf8)
        let alphabet =
            Array("0123456789abcdefuDn\"\\{}[]:,. -+eEtrue".utf8) + [0xC3, 0xA9, 0xED, 0xA0, 0xFF, 0x1F, 0x7F, 0]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: bytes.indices, using: &random)
            let count = min(Int.random(in: 0...2, using: &random), bytes.count - place)
            let new = (0..<Int.random(in: 0...count, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            bytes.replaceSubrange(place..<place + count, with: new)
        }
        return bytes
    }
}
