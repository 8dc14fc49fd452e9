package import PushModel

/// An index of the places of gone addresses in a log, by 32 bits of their hashes. Since hashes collide, the caller
/// compares the address at the place found.
///
/// An open hash table with 8 bytes per slot, filled to at most two thirds: 12 to 24 bytes per address, whatever
/// its length. It grows by doubling, which takes a tenth of a second with ten million of them.
package struct GoneIndex: Sendable {
    /// The limit for places.
    package static let placeLimit = Int(UInt32.max)

    /// The hash in the upper half and the place plus one in the lower half; 0 is free.
    private var slots = [UInt64](repeating: 0, count: 1024)
    /// The number of tokens.
    package private(set) var count = 0

    /// Creates an empty index.
    package init() {}

    /// Returns 32 bits of the hash of an address, which differ in each process.
    package static func hash(of kind: Address.Kind, _ bytes: ArraySlice<UInt8>) -> UInt32 {
        var hasher = Hasher()
        var (word, filled): (UInt64, Int) = (0, 0)
        for byte in bytes {
            (word, filled) = (word << 8 | UInt64(byte), filled + 1)
            guard filled == 8 else { continue }
            hasher.combine(word)
            (word, filled) = (0, 0)
        }
        hasher.combine(word)
        hasher.combine(bytes.count << 8 | Int(kind.rawValue))
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Returns the first place with this hash for which `isMeant` returns true. For a token that is not in the index,
    /// each token in it causes a needless call with a chance of one in four billion.
    ///
    /// - Throws: Any error that `isMeant` throws.
    package func place<Failure: Error>(
        of hash: UInt32, where isMeant: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int? {
        var slot = home(of: hash)
        while slots[slot] != 0 {
            let found = place(in: slot)
            if self.hash(in: slot) == hash, try isMeant(found) { return found }
            slot = next(slot)
        }
        return nil
    }

    /// Whether a token with this hash is at the place.
    package func contains(_ hash: UInt32, at place: Int) -> Bool {
        slot(of: hash, at: place) != nil
    }

    /// Adds a token that is not in the index.
    package mutating func insert(_ hash: UInt32, at place: Int) {
        if (count + 1) * 3 > slots.count * 2 { grow() }
        insert(entry(hash, place))
        count += 1
    }

    /// Moves a token to another place.
    package mutating func move(_ hash: UInt32, from old: Int, to new: Int) {
        guard let found = slot(of: hash, at: old) else { return }
        slots[found] = entry(hash, new)
    }

    /// Removes a token.
    package mutating func remove(_ hash: UInt32, at place: Int) {
        guard var hole = slot(of: hash, at: place) else { return }
        count -= 1
        // Move later entries up, but not beyond their home slot, so that no search ends too early.
        var other = next(hole)
        while slots[other] != 0 {
            let distance = (other &- home(of: self.hash(in: other))) & mask
            if distance >= (other &- hole) & mask {
                slots[hole] = slots[other]
                hole = other
            }
            other = next(other)
        }
        slots[hole] = 0
    }

    // MARK: Slots

    private var mask: Int { slots.count - 1 }

    private func home(of hash: UInt32) -> Int { Int(hash) & mask }

    private func next(_ slot: Int) -> Int { (slot + 1) & mask }

    private func hash(in slot: Int) -> UInt32 { UInt32(truncatingIfNeeded: slots[slot] >> 32) }

    private func place(in slot: Int) -> Int { Int(UInt32(truncatingIfNeeded: slots[slot])) - 1 }

    private func entry(_ hash: UInt32, _ place: Int) -> UInt64 { UInt64(hash) << 32 | UInt64(place + 1) }

    private func slot(of hash: UInt32, at place: Int) -> Int? {
        let wanted = entry(hash, place)
        var other = home(of: hash)
        while slots[other] != 0 {
            if slots[other] == wanted { return other }
            other = next(other)
        }
        return nil
    }

    private mutating func insert(_ entry: UInt64) {
        var slot = home(of: UInt32(truncatingIfNeeded: entry >> 32))
        while slots[slot] != 0 { slot = next(slot) }
        slots[slot] = entry
    }

    private mutating func grow() {
        let entries = slots
        slots = [UInt64](repeating: 0, count: entries.count * 2)
        for entry in entries where entry != 0 { insert(entry) }
    }
}
