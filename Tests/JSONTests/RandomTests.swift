import Document
import Foundation
import JSON
import TestSupport
import Testing

/// Random documents and random damage to them.
private struct Mutator {
    var random: SeededGenerator
    private let scraps = [
        "[", "]", "{", "}", ",", ":", "\"", "\\", "1", "0", "-", ".", "e", "true", "null", " ", "\n", "\"a\"", "\"b\":",
        "é", "\\u00e9", "\\ud83d\\ude00", "\\n", "[]", "{}", "\t", "1e5", "x", "//",
    ]

    mutating func value(depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 4 ? 5 : 8), using: &random) {
        case 0: return "\(Int.random(in: -1000...1000, using: &random))"
        case 1: return ["true", "false", "null", "1.5e3", "-0.0"].randomElement(using: &random) ?? "0"
        case 2, 3, 4: return "\"" + (["", "a", "é😀", "\\u00e9\\n", "x y"].randomElement(using: &random) ?? "") + "\""
        case 5, 6:
            let count = Int.random(in: 0..<4, using: &random)
            return "[" + (0..<count).map { _ in value(depth: depth + 1) }.joined(separator: ", ") + "]"
        default:
            let count = Int.random(in: 0..<12, using: &random)
            return "{" + (0..<count).map { "\"k\($0)\" : \(value(depth: depth + 1))" }.joined(separator: ",") + "}"
        }
    }

    mutating func damaged(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.removeSubrange(at..<min(bytes.count, at + 1))
            case 1: bytes.insert(contentsOf: (scraps.randomElement(using: &random) ?? "").utf8, at: at)
            case 2: bytes.removeLast(bytes.count - at)
            default: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
            }
        }
        return bytes
    }
}

@Suite struct RandomTests {
    private static func lastPlace(of bytes: [UInt8]) -> Place {
        let lineStart = (bytes.lastIndex(of: 10) ?? -1) + 1
        return Place(line: bytes.count { $0 == 10 } + 1, column: bytes.count - lineStart + 1)
    }

    /// Whether Foundation is known to judge otherwise: it takes a comma before `]` and the last of repeated keys,
    /// reads two bytes as UTF-16 if one is zero, and refuses numbers beyond a `Double`.
    private static func isKnownDifference(_ fault: Diagnostic?, _ bytes: [UInt8]) -> Bool {
        if bytes.contains(0) { return true }
        if let fault { return fault.message == "trailing comma" || fault.message.hasSuffix("appears twice") }
        var parser = JSON.Parser()
        guard let tape = try? parser.parse(bytes) else { return false }
        return tape.events.indices.map { Node(tape: tape, index: $0) }.contains {
            $0.kind == .number && Double($0.text)?.isFinite != true
        }
    }

    @Test func `verdicts agree with Foundation's`() {
        for seed in UInt64(0)..<20_000 {
            var mutator = Mutator(random: SeededGenerator(seed: seed))
            let bytes = mutator.damaged(mutator.value(depth: 0))
            let fault = fault(bytes)
            let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            if (fault == nil) != (other != nil), Self.isKnownDifference(fault, bytes) { continue }
            #expect((fault == nil) == (other != nil), "seed \(seed): \(bytes)")
        }
    }

    @Test func `every fault has a place inside the document`() {
        for seed in UInt64(0)..<20_000 {
            var mutator = Mutator(random: SeededGenerator(seed: seed))
            let bytes = mutator.damaged(mutator.value(depth: 0))
            guard let fault = fault(bytes) else { continue }
            let last = Self.lastPlace(of: bytes)
            #expect(fault.place.map { $0 <= last && $0.column >= 1 } == true, "seed \(seed): \(fault)")
            #expect(
                fault.message != "this is not valid JSON", "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test func `padding that looks like JSON changes no verdict`() throws {
        var parser = JSON.Parser()
        var tape = Tape()
        for seed in UInt64(0)..<10_000 {
            var mutator = Mutator(random: SeededGenerator(seed: seed))
            let bytes = mutator.damaged(mutator.value(depth: 0))
            let tail = (0..<80).map { _ in "]},:1\" ".utf8.randomElement(using: &mutator.random) ?? 32 }
            let isAccepted = (try? parser.parse(bytes + tail, range: 0..<bytes.count, into: &tape)) != nil
            #expect(isAccepted == (fault(bytes) == nil), "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test func `compact payloads mean what was written`() throws {
        for seed in UInt64(0)..<2_000 {
            var mutator = Mutator(random: SeededGenerator(seed: seed))
            let text = mutator.value(depth: 0)
            let compact = try JSONText.bytes(of: try read(text).root)
            let before = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            let after = try JSONSerialization.jsonObject(with: Data(compact), options: .fragmentsAllowed)
            #expect(before as? NSObject == after as? NSObject, "seed \(seed): \(text)")
        }
    }
}
