/// The 61 predefined fields (RFC 7541, appendix A).
enum StaticTable {
    static let count = 61

    /// Returns the index of a field, from 1, and whether its value matches too, or `nil` if the table does not have the
    /// name.
    static func find(_ name: [UInt8], _ value: [UInt8]?) -> (index: Int, isWhole: Bool)? {
        var named: Int?
        for place in fields.indices where fields[place].name == name {
            if fields[place].value == value { return (place + 1, true) }
            if named == nil { named = place + 1 }
        }
        return named.map { ($0, false) }
    }

    /// Returns the field at `index`, from 1.
    static func field(at index: Int) -> (name: [UInt8], value: [UInt8])? {
        fields.indices.contains(index - 1) ? fields[index - 1] : nil
    }

    private static let fields: [(name: [UInt8], value: [UInt8])] =
        valued.map { ([UInt8]($0.utf8), [UInt8]($1.utf8)) } + unvalued.map { ([UInt8]($0.utf8), []) }

    /// Entries 1 … 16.
    private static let valued = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"),
    ]

    /// Entries 17 … 61.
    private static let unvalued = [
        "accept-language", "accept-ranges", "accept", "access-control-allow-origin", "age", "allow", "authorization",
        "cache-control", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location", "content-range", "content-type", "cookie", "date", "etag", "expect", "expires", "from",
        "host", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified",
        "link", "location", "max-forwards", "proxy-authenticate", "proxy-authorization", "range", "referer", "refresh",
        "retry-after", "server", "set-cookie", "strict-transport-security", "transfer-encoding", "user-agent", "vary",
        "via", "www-authenticate",
    ]
}
