/// A value or key of a document: a tape and an index. Copies are cheap, nothing is allocated.
package struct Node: Sendable {
    /// What a node is.
    package enum Kind: UInt8, Sendable, Hashable {
        /// Keys with values, in the order of the file.
        case mapping
        /// Elements, in the order of the file.
        case sequence
        /// A key of a mapping.
        case key
        /// A JSON string, or a YAML scalar in quotes, in block style or tagged as a string.
        case string
        /// A YAML scalar without quotes; its reader settles the type.
        case plain
        /// A JSON number, of any size.
        case number
        /// JSON's `true`.
        case `true`
        /// JSON's `false`.
        case `false`
        /// JSON's `null`.
        case null
    }

    /// The document it belongs to.
    package let tape: Tape
    /// Which of the tape's events it is.
    package let index: Int

    /// Looks at an event of a tape; an index outside reads as a null.
    package init(tape: Tape, index: Int) {
        self.tape = tape
        self.index = index
    }

    private var event: Event? { tape.events.indices.contains(index) ? tape.events[index] : nil }

    /// What it is.
    package var kind: Kind { event?.kind ?? .null }

    /// Where it starts in the file. Computed when asked for; see `Tape.place(at:)` for the cost.
    package var place: Place { tape.place(at: rawRange.lowerBound) }

    /// Where its notation is in the tape's source, quotes and brackets included.
    package var rawRange: Range<Int> { event?.rawRange ?? tape.start..<tape.start }

    /// Its notation as the user wrote it, without a copy.
    package var raw: ArraySlice<UInt8> { tape.source[rawRange] }

    /// The text of a scalar or key in UTF-8 without a copy: of a string what it means, of all else what was written.
    /// Empty for a mapping or sequence.
    package var bytes: ArraySlice<UInt8> {
        guard let event, event.kind != .mapping, event.kind != .sequence else { return [] }
        return event.isInArena ? tape.arena[event.textRange] : tape.source[event.textRange]
    }

    /// The text of a scalar or key as a string; a copy when it is longer than 15 bytes.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Tells whether the text is exactly this one, without making a string.
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

    /// How many elements a sequence or members a mapping has; 0 for the rest.
    package var count: Int {
        guard let event, event.kind == .mapping || event.kind == .sequence else { return 0 }
        return Int(event.textLength)
    }

    /// The index of the event after this node's last.
    var end: Int { event?.next ?? index }

    /// A name for the kind, for messages: `a mapping`, `a string`.
    package var kindName: String {
        switch kind {
        case .mapping: "a mapping"
        case .sequence: "a sequence"
        case .key: "a key"
        case .string: "a string"
        case .plain: isNull ? "null" : "the plain value \(Diagnostic.quoted(text))"
        case .number: "a number"
        case .true: "true"
        case .false: "false"
        case .null: "null"
        }
    }
}
