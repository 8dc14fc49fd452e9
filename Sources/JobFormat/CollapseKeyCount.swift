/// Finds an address of FCM's that gets many collapse keys in one job. FCM stores one message for each of four keys, for an app on
/// a device; with a fifth key, it keeps any four
/// (<https://firebase.google.com/docs/cloud-messaging/customize-messages/set-message-type>).
struct CollapseKeyCount: Sendable {
    /// How many keys FCM keeps.
    static let limit = 4
    /// How many addresses are counted, so that a long job takes no more memory than a short one.
    private static let addressLimit = 4096

    /// The hashes of an address's keys, by its own.
    private var keys: [Int: [Int]] = [:]
    private var hasFound = false

    /// Notes a key of an address.
    ///
    /// - Returns: Whether it is one too many. At most once, because one warning is enough for a job.
    mutating func isOneTooMany(_ key: String, for address: [UInt8]) -> Bool {
        guard !hasFound else { return false }
        let hash = address.hashValue
        guard keys.count < Self.addressLimit || keys[hash] != nil else { return false }
        var known = keys[hash, default: []]
        if !known.contains(key.hashValue) { known.append(key.hashValue) }
        keys[hash] = known
        hasFound = known.count > Self.limit
        return hasFound
    }
}
