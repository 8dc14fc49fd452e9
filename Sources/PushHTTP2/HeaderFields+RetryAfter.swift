import HTTP2

extension HeaderFields {
    /// The longest pause that the gateway may ask for.
    private static let longestPause = 86_400

    /// Returns how long the gateway asks to wait (`retry-after`, in seconds), at most a day; `nil` if it does not.
    func retryAfter(in range: Range<Int>) -> Duration? {
        guard let value = value(of: "retry-after", in: range), let seconds = Int(String(decoding: value, as: UTF8.self))
        else { return nil }
        return .seconds(max(0, min(seconds, Self.longestPause)))
    }
}
