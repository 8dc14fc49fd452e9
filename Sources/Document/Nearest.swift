/// Suggests corrections for misspelt words.
package enum Nearest {
    /// Returns the candidate with the smallest distance to a misspelt word, at most one edit per three letters.
    ///
    /// An edit adds, removes or changes a letter or swaps two. Ignores case and treats `-` as `_`.
    package static func word(to word: String, among candidates: [String]) -> String? {
        let wanted = folded(word)
        guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let known = folded(candidate)
            let limit = max(1, max(wanted.count, known.count) / 3)
            // The lengths alone rule out most candidates cheaply.
            guard abs(wanted.count - known.count) <= limit else { continue }
            let distance = distance(wanted, known)
            guard distance <= limit, distance < known.count else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    private static func folded(_ word: String) -> [UInt8] {
        word.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "-"), UInt8(ascii: " "): UInt8(ascii: "_")
            default: byte
            }
        }
    }

    /// Returns the edit distance of two words (optimal string alignment), computed row by row.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var row: [Int] = []
            row.reserveCapacity(right.count + 1)
            row.append(i + 1)
            for (j, b) in right.enumerated() {
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { cost = min(cost, beforeLast[j - 1] + 1) }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[right.count]
    }
}
