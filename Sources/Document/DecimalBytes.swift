extension [UInt8] {
    /// Appends an integer in decimal digits, like `String(number)`.
    package mutating func appendDecimal(_ number: Int) {
        if 0..<10 ~= number { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)) }
        let magnitude = number.magnitude
        if number < 0 { append(UInt8(ascii: "-")) }
        var divisor: UInt = 1
        while magnitude / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude / divisor % 10))
            divisor /= 10
        }
    }
}
