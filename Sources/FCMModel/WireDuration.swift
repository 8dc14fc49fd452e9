/// Reads durations in the JSON form of `google.protobuf.Duration`, such as `86400s` or `3.5s`
/// (<https://protobuf.dev/programming-guides/json/>).
package enum WireDuration {
    /// The longest that can be written, about 10,000 years, in seconds.
    private static let limit: Int64 = 315_576_000_000

    /// Returns the duration; `nil` if the text has another form.
    package static func parse(_ text: ArraySlice<UInt8>) -> Duration? {
        guard text.last == UInt8(ascii: "s") else { return nil }
        let isNegative = text.first == UInt8(ascii: "-")
        let parts = text.dropLast().dropFirst(isNegative ? 1 : 0).split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = digits(parts[0]), whole <= limit else { return nil }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            guard parts[1].count <= 9, var fraction = digits(parts[1]) else { return nil }
            for _ in parts[1].count..<9 { fraction *= 10 }
            nanoseconds = fraction
        }
        let duration = Duration.seconds(whole) + .nanoseconds(nanoseconds)
        return isNegative ? .zero - duration : duration
    }

    private static func digits(_ text: ArraySlice<UInt8>) -> Int64? {
        guard !text.isEmpty, text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(String(decoding: text, as: UTF8.self))
    }
}
