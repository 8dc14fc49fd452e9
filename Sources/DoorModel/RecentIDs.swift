package import Document
package import PushModel

/// The ids of requests that were spooled lately, so that a request that a client repeats is not spooled twice.
///
/// Holds at most `capacity` ids, 48 bytes each; beyond, the oldest are forgotten early.
package struct RecentIDs: Sendable {
    /// An id of one producer for one receiver. Two producers may use the same ids, and some clients send one id to all
    /// devices that get a message.
    package struct Key: Hashable, Sendable {
        /// The producer and the receiver, by a fingerprint of its name and the token or channel.
        package let parties: UInt64
        /// The id.
        package let id: UInt128

        /// Creates a key.
        ///
        /// - Parameters:
        ///   - producer: The hash of the producer's name; the log of ids needs neither names nor tokens.
        ///   - id: The id.
        ///   - receiver: The bytes of the token, or the text of the channel.
        package init(producer: FNV1a, id: NotificationID, to receiver: [UInt8]) {
            var parties = producer
            parties.add(receiver.span)
            (self.parties, self.id) = (parties.value, id.bits)
        }
    }

    /// How long an id is remembered.
    package var lifetime: Duration
    private let capacity: Int
    private var times: [Key: Int64] = [:]
    /// The keys in the order of their times; those before `first` are forgotten.
    private var order: [Key] = []
    private var first = 0

    /// Creates an empty memory.
    package init(lifetime: Duration, capacity: Int = 1 << 20) {
        (self.lifetime, self.capacity) = (lifetime, max(1, capacity))
    }

    /// How many ids are remembered.
    package var count: Int { times.count }

    /// Whether the id was spooled within the lifetime before `now`.
    package func contains(_ key: Key, at now: WallTime) -> Bool {
        guard let seconds = times[key] else { return false }
        return now - WallTime(epochSeconds: seconds) < lifetime
    }

    /// Remembers an id that was spooled at `now`. Times must not decrease by much: an id is forgotten when its turn comes.
    package mutating func insert(_ key: Key, at now: WallTime) {
        forget(at: now)
        if times.updateValue(now.epochSeconds, forKey: key) == nil { order.append(key) }
    }

    /// Forgets an id.
    package mutating func forget(_ key: Key) { times[key] = nil }

    /// Forgets the ids that are too old.
    package mutating func forget(at now: WallTime) {
        while first < order.count {
            // One that was forgotten has no time.
            let isOld = times[order[first]].map { now - WallTime(epochSeconds: $0) >= lifetime } ?? true
            guard isOld || order.count - first >= capacity else { break }
            times[order[first]] = nil
            first += 1
        }
        guard first > 1024, first > order.count / 2 else { return }
        order.removeFirst(first)
        first = 0
    }
}

/// One record of the log of ids: 32 bytes, which a crash may cut off only at the end.
extension RecentIDs.Key {
    /// The length of a record.
    package static let recordByteCount = 32

    /// The time in the record of an id that was forgotten.
    package static let forgotten = WallTime(epochSeconds: 0)

    /// The times in the records of an id that a door claims before it writes the request, and of a claim that it has
    /// withdrawn.
    package static let (claimed, withdrawn) = (WallTime(epochSeconds: -1), WallTime(epochSeconds: -2))

    /// Appends the record of the id: the time, the parties and the id, big-endian.
    package func appendRecord(at now: WallTime, to bytes: inout [UInt8]) {
        Self.append(UInt64(bitPattern: now.epochSeconds), to: &bytes)
        Self.append(parties, to: &bytes)
        Self.append(UInt64(truncatingIfNeeded: id >> 64), to: &bytes)
        Self.append(UInt64(truncatingIfNeeded: id), to: &bytes)
    }

    /// Reads a record.
    ///
    /// - Parameter bytes: The 32 bytes of a record.
    /// - Returns: The id and when it was spooled.
    package static func record(in bytes: ArraySlice<UInt8>) -> (key: Self, time: WallTime) {
        let words = (0..<4).map { word in
            bytes.dropFirst(8 * word).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let id = UInt128(words[2]) << 64 | UInt128(words[3])
        let seconds = Int64(bitPattern: words[0])
        return (Self(parties: words[1], bits: id), WallTime(epochSeconds: seconds))
    }

    private init(parties: UInt64, bits: UInt128) {
        (self.parties, self.id) = (parties, bits)
    }

    private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }
}
