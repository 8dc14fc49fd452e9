/// A list of header fields, packed into one array so that reading a response allocates nothing.
package struct HeaderFields: Sendable {
    /// The position of a field in `bytes`: its name, then its value.
    private struct Entry: Sendable {
        let start: Int
        let nameByteCount: Int
        let valueByteCount: Int
    }

    private(set) var bytes: [UInt8] = []
    private var entries: [Entry] = []

    /// Creates an empty list.
    package init() {}

    /// The number of fields.
    package var count: Int { entries.count }

    /// The size of the list as RFC 9113 §6.5.2 counts it: name, value and 32 for each field.
    package var listByteCount: Int { bytes.count + 32 * entries.count }

    /// Appends a copy of a field.
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        append(nameByteCount: name.count, valueByteCount: value.count) { output in
            output.append(copying: name)
            output.append(copying: value)
        }
    }

    /// Appends a field whose bytes `body` writes, the name and then the value, so that a caller can use a faster copy.
    package mutating func append(
        nameByteCount: Int, valueByteCount: Int, _ body: (inout OutputSpan<UInt8>) -> Void
    ) {
        let entry = Entry(start: bytes.count, nameByteCount: nameByteCount, valueByteCount: valueByteCount)
        bytes.append(addingCapacity: nameByteCount + valueByteCount, initializingWith: body)
        precondition(bytes.count == entry.start + nameByteCount + valueByteCount, "a field's length does not match")
        entries.append(entry)
    }

    /// Returns the name of the field at `index`.
    package func name(at index: Int) -> ArraySlice<UInt8> {
        bytes[nameRange(at: index)]
    }

    /// Returns the value of the field at `index`.
    package func value(at index: Int) -> ArraySlice<UInt8> {
        bytes[valueRange(at: index)]
    }

    /// Returns the value of the first field with this name in `range`.
    package func value(of name: String, in range: Range<Int>) -> ArraySlice<UInt8>? {
        range.first { bytes[nameRange(at: $0)].elementsEqual(name.utf8) }.map { value(at: $0) }
    }

    /// Empties the list and keeps its memory for reuse.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }
}

extension HeaderFields {
    /// Returns the range of the field's name in `bytes`.
    func nameRange(at index: Int) -> Range<Int> {
        let entry = entries[index]
        return entry.start..<entry.start + entry.nameByteCount
    }

    /// Returns the range of the field's value in `bytes`.
    func valueRange(at index: Int) -> Range<Int> {
        let entry = entries[index]
        let start = entry.start + entry.nameByteCount
        return start..<start + entry.valueByteCount
    }

    /// Appends the fields of another list that are in `range`.
    mutating func append(contentsOf other: HeaderFields, in range: Range<Int>) {
        guard let first = range.first, let last = range.last else { return }
        let source = other.entries[first].start..<other.valueRange(at: last).upperBound
        let shift = bytes.count - source.lowerBound
        bytes.append(contentsOf: other.bytes[source])
        for entry in other.entries[range] {
            entries.append(
                Entry(
                    start: entry.start + shift, nameByteCount: entry.nameByteCount,
                    valueByteCount: entry.valueByteCount))
        }
    }

    /// Removes the fields from index `count` on.
    mutating func truncate(to count: Int) {
        guard count < entries.count else { return }
        bytes.removeLast(bytes.count - entries[count].start)
        entries.removeLast(entries.count - count)
    }
}
