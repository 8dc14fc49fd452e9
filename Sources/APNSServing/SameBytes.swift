extension ArraySlice<UInt8> {
    /// Whether the bytes equal `other`. Always compares all of them, which vector instructions do faster than stopping early.
    package func isSame(as other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        let (left, right) = (span, other.span)
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
