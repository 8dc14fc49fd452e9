import Document
import TestSupport
import Testing
import YAML

@Suite struct RandomTests {
    private static let sample = """
        # everything but the recipients and a payload is optional
        tokens:
          - 740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad
          - "ü\\u00e9" # note
        payload: {aps: {alert: 'Hello', sound: default}, order: 17}
        text: |
          one
            two
        expiration: +1h
        ...

        """
    private static let scraps = [
        ":", "- ", "\n", "  ", "[", "]", "{", "}", ",", "'", "\"", "&a ", "*a", "!t ", "|", ">", "#", "? ", "---\n",
        "...\n", "\t", "%",
        "é", "🐢", "\u{2028}", "\r\n", "\\",
    ]

    private static func damaged(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(sample.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.removeSubrange(at..<min(bytes.count, at + 1))
            case 1: bytes.removeLast(bytes.count - at)
            case 2: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
            default: bytes.insert(contentsOf: (scraps.randomElement(using: &random) ?? "").utf8, at: at)
            }
        }
        return bytes
    }

    @Test func `no damage traps and every fault has a place inside the document`() {
        for seed in UInt64(0)..<5_000 {
            var random = SeededGenerator(seed: seed)
            let bytes = Self.damaged(&random)
            guard let fault = fault(bytes) else { continue }
            let lineStart = (bytes.lastIndex(of: 10) ?? -1) + 1
            let last = Place(line: bytes.count { $0 == 10 } + 1, column: bytes.count - lineStart + 1)
            #expect(fault.place.map { $0 <= last && $0.column >= 1 } == true, "seed \(seed): \(fault)")
        }
    }

    @Test func `every accepted document becomes JSON that can be read again`() throws {
        for seed in UInt64(0)..<5_000 {
            var random = SeededGenerator(seed: seed)
            var parser = YAML.Parser()
            guard let tape = try? parser.parse(Self.damaged(&random)) else { continue }
            guard let json = try? JSONText.bytes(of: tape.root) else { continue }
            let again = try parser.parse(json)
            #expect(try JSONText.bytes(of: again.root) == json, "seed \(seed)")
        }
    }
}
