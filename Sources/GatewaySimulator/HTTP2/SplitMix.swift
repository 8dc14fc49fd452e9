/// A pseudo-random generator with reproducible results for a seed (SplitMix64).
struct SplitMix: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to but not including 1.
    mutating func fraction() -> Double {
        Double(next() >> 11) / Double(UInt64(1) << 53)
    }

    /// Returns a UUID in the form of an `apns-id`.
    mutating func identifier() -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        let halves = [next(), next()]
        return (0..<36).map { place in
            if place == 8 || place == 13 || place == 18 || place == 23 { return UInt8(ascii: "-") }
            return digits[Int(halves[place / 18] >> (UInt64(place % 18) * 3) & 0xF)]
        }
    }
}
