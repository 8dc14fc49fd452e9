/// A hash of 64 bits that is the same in every process (FNV-1a, draft-eastlake-fnv): for names of files, and to tell texts
/// apart. Whoever chooses the bytes can make two of them alike.
package struct FNV1a: Hashable, Sendable {
    /// The hash of the bytes so far.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the hash of no bytes.
    package init() {}

    /// Creates the hash of some bytes.
    package init(_ bytes: Span<UInt8>) { add(bytes) }

    /// Continues with further bytes. Costs O(*n*).
    package mutating func add(_ bytes: Span<UInt8>) {
        for index in bytes.indices { value = (value ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
    }
}
