import CNGHTTP2

/// The header fields of a response, stored end to end; reusable.
package struct ResponseFields: Sendable {
    fileprivate var bytes: [UInt8] = []
    fileprivate var fields: [Field] = []

    fileprivate struct Field: Sendable {
        let name: Int
        let value: Int
        let end: Int
        let isIndexed: Bool
    }

    /// Creates an empty list.
    package init() {}

    /// Removes all fields and keeps the capacity.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// Appends a field.
    ///
    /// - Parameters:
    ///   - name: The name in lowercase; `:status` must be the first field.
    ///   - value: The value, as sent to the client.
    ///   - isIndexed: Whether the field may enter the dynamic table.
    package mutating func append(_ name: String, _ value: ArraySlice<UInt8>, isIndexed: Bool = true) {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        let middle = bytes.count
        bytes.append(contentsOf: value)
        fields.append(Field(name: start, value: middle, end: bytes.count, isIndexed: isIndexed))
    }

    /// Appends a field with a text value.
    package mutating func append(_ name: String, _ value: String, isIndexed: Bool = true) {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        let middle = bytes.count
        bytes.append(contentsOf: value.utf8)
        fields.append(Field(name: start, value: middle, end: bytes.count, isIndexed: isIndexed))
    }

    /// Calls `body` with the fields in nghttp2's form, valid only during the call.
    mutating func withPairs<Value>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Value) -> Value {
        let fields = fields
        return unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { pairs in
                for (index, field) in fields.enumerated() {
                    let flags = field.isIndexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
                    unsafe pairs[index] = unsafe nghttp2_nv(
                        name: bytes.baseAddress.map { unsafe $0 + field.name },
                        value: bytes.baseAddress.map { unsafe $0 + field.value },
                        namelen: field.value - field.name, valuelen: field.end - field.value,
                        flags: UInt8(flags.rawValue))
                }
                return unsafe body(pairs.baseAddress, fields.count)
            }
        }
    }
}
