extension [UInt8] {
    /// Appends a whole number in decimal digits, as `String(number)` has them.
    package mutating func appendDecimal(_ number: Int) {
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
