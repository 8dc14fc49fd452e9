/// Cuts bytes into pieces as a network might: many short ones, some long ones. The same seed makes the same cuts.
struct Cuts {
    private var state: UInt32

    init(seed: UInt8) {
        state = UInt32(seed) &* 2_654_435_761 | 1
    }

    /// How many bytes the next piece has, 1 … `limit`.
    mutating func next(upTo limit: Int) -> Int {
        state = state &* 1_664_525 &+ 1_013_904_223
        let width = [1, 2, 9, 40, 400, 20_000][Int(state >> 24) % 6]
        return min(limit, 1 + Int(state >> 8 & 0xFFFF) % width)
    }
}

extension Span<UInt8> {
    /// A copy.
    var array: [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        for index in indices { copy.append(self[index]) }
        return copy
    }
}

/// Takes an input apart, byte by byte; at its end everything is nothing.
struct Bytes {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ input: Span<UInt8>) {
        bytes = input.array
    }

    /// The next byte.
    mutating func next() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Up to `count` bytes.
    mutating func take(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, offset + count)
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    /// 0 … 4,350, small ones most often.
    mutating func number() -> Int {
        let byte = Int(next() ?? 0)
        return byte < 240 ? byte : (byte - 239) * 256 + Int(next() ?? 0)
    }
}
