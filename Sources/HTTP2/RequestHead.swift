/// The header fields of a series of requests, with holes where the requests differ.
package struct RequestHead: Hashable, Sendable {
    /// One header field.
    package struct Field: Hashable, Sendable {
        /// The name, in lower case.
        package let name: String
        /// The value.
        package let value: Value
        /// The part of the field that the peer keeps.
        package let kept: Kept

        /// Creates a field.
        package init(_ name: String, _ value: Value, kept: Kept = .nothing) {
            self.name = name
            self.value = value
            self.kept = kept
        }
    }

    /// The part of a field that the peer keeps in its table, so that the next request can refer to it.
    package enum Kept: Hashable, Sendable {
        /// Nothing.
        case nothing
        /// The name, together with the first value sent. Later values are not kept.
        case name
        /// Name and value; only the name if the value has a hole.
        case field
    }

    /// The value of a field.
    package enum Value: Hashable, Sendable {
        /// The same in all requests.
        case text([UInt8])
        /// `prefix`, the same in all requests, then `byteCount` bytes to be filled in for each request.
        case hole(prefix: [UInt8] = [], byteCount: Int)

        /// Creates a value that is the same in all requests.
        package static func text(_ text: String) -> Value { .text([UInt8](text.utf8)) }
    }

    /// The fields, pseudo-header fields first.
    package var fields: [Field]

    /// Creates a head with these fields.
    package init(fields: [Field]) {
        self.fields = fields
    }

    /// The size that a peer compares with its SETTINGS_MAX_HEADER_LIST_SIZE: name, value and 32 for each field.
    package var listByteCount: Int {
        fields.reduce(0) { sum, field in
            switch field.value {
            case .text(let text): sum + 32 + field.name.utf8.count + text.count
            case .hole(let prefix, let byteCount): sum + 32 + field.name.utf8.count + prefix.count + byteCount
            }
        }
    }
}

// The value of `content-length` (RFC 9110 §8.6), which is a hole in every head.
extension RequestHead {
    /// Returns the number of digits of a length.
    package static func digitCount(of length: Int) -> Int {
        var (count, rest) = (1, length / 10)
        while rest > 0 { (count, rest) = (count + 1, rest / 10) }
        return count
    }

    /// Returns the ``digitCount(of:)`` digits of a length.
    package static func digits(of length: Int) -> [UInt8] { Array(String(length).utf8) }
}
