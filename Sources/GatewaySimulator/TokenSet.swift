/// A set of tokens that can be searched for bytes in a buffer without copying them.
struct TokenSet: Sendable, Hashable {
    private var buckets: [UInt64: [[UInt8]]] = [:]

    init(_ tokens: some Sequence<[UInt8]> = []) {
        for token in tokens {
            buckets[Self.hash(token.span, in: token.indices), default: []].append(token)
        }
    }

    var isEmpty: Bool { buckets.isEmpty }

    /// Whether the bytes of `range` are one of the tokens.
    func contains(_ range: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        guard !isEmpty, let bucket = buckets[Self.hash(bytes, in: range)] else { return false }
        return bucket.contains { token in
            token.count == range.count && token.indices.allSatisfy { token[$0] == bytes[range.lowerBound + $0] }
        }
    }

    /// FNV-1a.
    private static func hash(_ bytes: Span<UInt8>, in range: Range<Int>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in range { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        return hash
    }
}
