import HTTP2

extension HeaderFields {
    /// The longest id of the gateway's that is kept. Apple's are UUIDs.
    private static let uniqueIDLimit = 64

    /// The longest pause that the gateway may ask for.
    private static let longestPause = 86_400

    /// Returns the gateway's own id of a notification (`apns-unique-id`) from the fields of an answer; `nil` if there is
    /// none, or it has not the form of Apple's.
    func uniqueID(in range: Range<Int>) -> String? {
        guard let id = value(of: "apns-unique-id", in: range), id.count <= Self.uniqueIDLimit,
            id.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2D })
        else { return nil }
        return String(decoding: id, as: UTF8.self)
    }

    /// Returns how long the gateway asks to wait (`retry-after`, in seconds), at most a day; `nil` if it does not.
    func retryAfter(in range: Range<Int>) -> Duration? {
        guard let value = value(of: "retry-after", in: range), let seconds = Int(String(decoding: value, as: UTF8.self))
        else { return nil }
        return .seconds(max(0, min(seconds, Self.longestPause)))
    }
}
