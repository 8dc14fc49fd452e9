/// Converts a node to the JSON that is sent.
package enum JSONText {
    /// Appends a node as compact JSON.
    ///
    /// JSON is copied as the user wrote it, apart from insignificant whitespace. YAML is converted by the core schema:
    /// keys stay in the user's order, numbers keep every digit.
    ///
    /// - Parameters:
    ///   - node: The node.
    ///   - bytes: The bytes to append to.
    ///   - strings: The indices of plain scalars of YAML that are strings, whatever they look like.
    /// - Throws: A diagnostic at the place of a YAML number that JSON cannot represent. Report it against the field
    ///   that contains the node.
    package static func append(
        _ node: Node, to bytes: inout [UInt8], asStrings strings: Set<Int> = []
    ) throws(Diagnostic) {
        switch node.tape.format {
        case .json: minify(node.raw, into: &bytes)
        case .yaml:
            var writer = JSONWriter(appendingTo: bytes)
            bytes = []
            defer { bytes = writer.bytes }
            try write(node, to: &writer, strings)
        }
    }

    /// Returns the node as compact JSON; see `append(_:to:asStrings:)`.
    ///
    /// - Throws: A diagnostic at the place of a YAML number that JSON cannot represent.
    package static func bytes(of node: Node, asStrings strings: Set<Int> = []) throws(Diagnostic) -> [UInt8] {
        var bytes: [UInt8] = []
        try append(node, to: &bytes, asStrings: strings)
        return bytes
    }

    /// Copies valid JSON without the whitespace outside strings.
    private static func minify(_ json: ArraySlice<UInt8>, into bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + json.count)
        // What is kept is copied in one piece up to the next whitespace.
        var (start, index) = (json.startIndex, json.startIndex)
        while index < json.endIndex {
            let byte = json[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                index = endOfString(json, from: index)
            } else if byte <= UInt8(ascii: " ") {
                bytes.append(contentsOf: json[start..<index - 1])
                start = index
            }
        }
        bytes.append(contentsOf: json[start...])
    }

    /// The place after the closing quote of a string that begins before `start`.
    private static func endOfString(_ json: ArraySlice<UInt8>, from start: Int) -> Int {
        var index = start
        while index < json.endIndex, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, json.endIndex)
    }

    private static func write(
        _ node: Node, to writer: inout JSONWriter, _ strings: Set<Int>
    ) throws(Diagnostic) {
        switch node.kind {
        case .mapping:
            writer.beginObject()
            for member in node.members {
                writer.key(utf8: member.key.bytes)
                try write(member.value, to: &writer, strings)
            }
            writer.endObject()
        case .sequence:
            writer.beginArray()
            for element in node.elements { try write(element, to: &writer, strings) }
            writer.endArray()
        case .string, .key: writer.string(utf8: node.bytes)
        case .plain where strings.contains(node.index): writer.string(utf8: node.bytes)
        case .plain: try writePlain(node, to: &writer)
        case .number: writer.raw(node.raw)
        case .true: writer.boolean(true)
        case .false: writer.boolean(false)
        case .null: writer.null()
        }
    }

    private static func writePlain(_ node: Node, to writer: inout JSONWriter) throws(Diagnostic) {
        switch CoreSchema.resolve(node.bytes) {
        case .null: writer.null()
        case .boolean(let value): writer.boolean(value)
        case .integer(let digits), .float(let digits): writer.raw(digits.utf8)
        case .string: writer.string(utf8: node.bytes)
        case .unwritable:
            throw Diagnostic(
                "JSON cannot represent \(Diagnostic.quoted(node.text))",
                hint: "use a finite decimal number, or put quotes around it to make it a string", at: node.place)
        }
    }
}
