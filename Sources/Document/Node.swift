/// A value or key of a document: a tape and an index. Copies are cheap and allocate nothing.
package struct Node: Sendable {
    /// The kind of a node.
    package enum Kind: UInt8, Sendable, Hashable {
        /// Keys with values, in file order.
        case mapping
        /// Elements, in file order.
        case sequence
        /// A key of a mapping.
        case key
        /// A JSON string, or a YAML scalar that is quoted, in block style or tagged as a string.
        case string
        /// A YAML scalar without quotes, whose type depends on the field that reads it.
        case plain
        /// A JSON number of any size.
        case number
        /// JSON's `true`.
        case `true`
        /// JSON's `false`.
        case `false`
        /// JSON's `null`.
        case null
    }

    /// The document.
    package let tape: Tape
    /// The index of the node's event on the tape.
    package let index: Int

    /// Creates a node for an event of a tape. An index out of range reads as a null.
    package init(tape: Tape, index: Int) {
        self.tape = tape
        self.index = index
    }

    private var event: Event? { tape.events.indices.contains(index) ? tape.events[index] : nil }

    /// The kind of the node.
    package var kind: Kind { event?.kind ?? .null }

    /// The position of the node in the file, computed on each access; see `Tape.place(at:)` for the cost.
    package var place: Place { tape.place(at: rawRange.lowerBound) }

    /// The range of the raw text in the tape's source, including quotes and brackets.
    package var rawRange: Range<Int> { event?.rawRange ?? tape.start..<tape.start }

    /// The raw text as the user wrote it, without a copy.
    package var raw: ArraySlice<UInt8> { tape.source[rawRange] }

    /// The text of a scalar or key in UTF-8, without a copy: decoded for a string, raw for any other scalar. Empty for
    /// a mapping or sequence.
    package var bytes: ArraySlice<UInt8> {
        guard let event, event.kind != .mapping, event.kind != .sequence else { return [] }
        return event.isInArena ? tape.arena[event.textRange] : tape.source[event.textRange]
    }

    /// The text of a scalar or key as a string; allocates if it is longer than 15 bytes.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the text equals `other`, without creating a string.
    package func isText(_ other: String) -> Bool {
        guard let event, event.kind != .mapping, event.kind != .sequence else { return other.isEmpty }
        guard Int(event.textLength) == other.utf8.count else { return false }
        var offset = event.textRange.lowerBound
        for byte in other.utf8 {
            guard byte == (event.isInArena ? tape.arena[offset] : tape.source[offset]) else { return false }
            offset += 1
        }
        return true
    }

    /// The number of elements of a sequence or members of a mapping; 0 for other kinds.
    package var count: Int {
        guard let event, event.kind == .mapping || event.kind == .sequence else { return 0 }
        return Int(event.textLength)
    }

    /// The index of the first event after this node.
    var end: Int { event?.next ?? index }

    /// The indices of its event and of those in it.
    package var events: Range<Int> { index..<end }

    /// The name for a mapping in the language of the document, for messages.
    package var mappingName: String { tape.format == .json ? "an object" : "a mapping" }

    /// The name for a sequence in the language of the document, for messages.
    package var sequenceName: String { tape.format == .json ? "an array" : "a sequence" }

    /// The name of the kind, for messages: `a mapping`, `a string`.
    package var kindName: String {
        switch kind {
        case .mapping: mappingName
        case .sequence: sequenceName
        case .key: "a key"
        case .string: "a string"
        case .plain: isNull ? "null" : "the value \(Diagnostic.quoted(text))"
        case .number: "a number"
        case .true: "true"
        case .false: "false"
        case .null: "null"
        }
    }
}
