/// The header fields of a run of requests, with holes where the requests differ.
package struct RequestHead: Hashable, Sendable {
    /// One field.
    package struct Field: Hashable, Sendable {
        /// In lower case.
        package let name: String
        /// What it says.
        package let value: Value
        /// What the peer keeps of it.
        package let kept: Kept

        /// Creates a field.
        package init(_ name: String, _ value: Value, kept: Kept = .nothing) {
            self.name = name
            self.value = value
            self.kept = kept
        }
    }

    /// What the peer keeps of a field in its table, so that the next request only refers to it.
    package enum Kept: Hashable, Sendable {
        /// Nothing.
        case nothing
        /// The name, with the first value that it had; values after that are not kept.
        case name
        /// Name and value; only the name if the value has a hole.
        case field
    }

    /// What a field says.
    package enum Value: Hashable, Sendable {
        /// The same in all requests.
        case text([UInt8])
        /// `prefix`, the same in all requests, then `byteCount` bytes that are to be filled in for each.
        case hole(prefix: [UInt8] = [], byteCount: Int)

        /// The same in all requests.
        package static func text(_ text: String) -> Value { .text([UInt8](text.utf8)) }
    }

    /// Pseudo-header fields first.
    package var fields: [Field]

    /// Creates a head of these fields.
    package init(fields: [Field]) {
        self.fields = fields
    }

    /// Its size as a peer's SETTINGS_MAX_HEADER_LIST_SIZE counts it: name, value and 32 for each field.
    package var listByteCount: Int {
        fields.reduce(0) { sum, field in
            switch field.value {
            case .text(let text): sum + 32 + field.name.utf8.count + text.count
            case .hole(let prefix, let byteCount): sum + 32 + field.name.utf8.count + prefix.count + byteCount
            }
        }
    }
}
