/// Iterates over DER elements (X.690) without trusting any length.
struct DERReader {
    /// One element: its tag and content.
    struct Element: Hashable {
        let tag: UInt8
        let content: ArraySlice<UInt8>
    }

    /// `SEQUENCE`, constructed.
    static let sequence: UInt8 = 0x30
    /// `UTF8String`.
    static let utf8String: UInt8 = 0x0C

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Returns the next element; `nil` at the end, and at the first malformed or truncated one.
    mutating func next() -> Element? {
        guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let count = length(), count <= rest.count else {
            rest = []
            return nil
        }
        let content = rest.prefix(count)
        rest = rest.dropFirst(count)
        return Element(tag: tag, content: content)
    }

    /// Reads a definite length of at most four bytes.
    private mutating func length() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        if first < 0x80 { return Int(first) }
        let byteCount = Int(first & 0x7F)
        guard (1...4).contains(byteCount), byteCount <= rest.count else { return nil }
        var length = 0
        for _ in 0..<byteCount { length = length << 8 | Int(rest.removeFirst()) }
        return length
    }
}
