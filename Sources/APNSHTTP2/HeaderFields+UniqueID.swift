import HTTP2

extension HeaderFields {
    /// The longest id of the gateway's that is kept. Apple's are UUIDs.
    private static let uniqueIDLimit = 64

    /// Returns the gateway's own id of a notification (`apns-unique-id`) from the fields of an answer; `nil` if there is
    /// none, or it has not the form of Apple's.
    func uniqueID(in range: Range<Int>) -> String? {
        guard let id = value(of: "apns-unique-id", in: range), id.count <= Self.uniqueIDLimit,
            id.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2D })
        else { return nil }
        return String(decoding: id, as: UTF8.self)
    }
}
