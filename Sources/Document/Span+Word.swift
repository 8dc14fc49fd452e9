extension Span<UInt8> {
    /// Returns the eight bytes from `offset` on, the first one lowest. There must be so many.
    ///
    /// In the form that the compiler makes one load of; inlined, because it stands in loops over all bytes of large jobs.
    @inlinable
    @inline(__always)
    package func word(at offset: Int) -> UInt64 {
        let eight = extracting(offset..<offset + 8)
        let low = UInt64(eight[0]) | UInt64(eight[1]) << 8 | UInt64(eight[2]) << 16 | UInt64(eight[3]) << 24
        let high = UInt64(eight[4]) | UInt64(eight[5]) << 8 | UInt64(eight[6]) << 16 | UInt64(eight[7]) << 24
        return low | high << 32
    }
}
