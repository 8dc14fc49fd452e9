/// What a reader takes as a value, for the JSON Schema of its files (draft 2020-12).
///
/// It says what can be said of one value. What needs several, such as a size after encoding, only the reader finds.
package indirect enum Shape: Hashable, Sendable {
    /// Anything.
    case anything
    /// Nothing: the key is another kind's.
    case nothing
    /// Null alone.
    case null
    /// A string, with a pattern in the syntax of ECMA-262 if there is one.
    case text(pattern: String? = nil)
    /// A string of so many characters.
    case lengths(ClosedRange<Int>)
    /// A string, or another scalar that is read by its text, as in `id: 17`.
    case scalar(pattern: String? = nil)
    /// `true` or `false`.
    case boolean
    /// A whole number.
    case integer(ClosedRange<Int>)
    /// Any number in these limits.
    case number(ClosedRange<Int>)
    /// One of these words.
    case words([String])
    /// One of these whole numbers.
    case numbers([Int])
    /// A list, which may have to have elements.
    case list(Shape, isNonEmpty: Bool = false)
    /// A mapping from names that the user chooses.
    case map(Shape)
    /// A mapping from known keys.
    case object(ObjectShape)
    /// Any of these.
    case any([Shape])
    /// A shape that the schema defines under a name.
    case defined(String)

    /// A duration, such as `15s`, or 0.
    package static let duration = Shape.any([.text(pattern: "^([0-9]+ ?(ms|s|m|h|d)|0+)$"), .numbers([0])])

    /// A size, such as `64MiB`, or a number of bytes in these limits.
    package static func byteCount(_ range: ClosedRange<Int>) -> Shape {
        .any([.text(pattern: "^[0-9]+ ?(B|KiB|MiB|GiB)?$"), .integer(range)])
    }

    /// Returns a shape that takes what either takes.
    func or(_ other: Shape) -> Shape {
        if self == other { return self }
        return switch (self, other) {
        case (.anything, _): other
        case (_, .anything): self
        case (.any(let shapes), _): shapes.contains(other) ? self : .any(shapes + [other])
        default: .any([self, other])
        }
    }
}

/// A mapping from known keys: which there are, and which must be there.
package struct ObjectShape: Hashable, Sendable {
    /// A key, and what it takes.
    package struct Member: Hashable, Sendable {
        /// The key.
        package let key: String
        /// What it takes besides null, which counts as absent.
        package var shape: Shape
        /// What the key is for, or the limits of its value.
        package var note: String?
        /// The JSON of the value that counts if the key is absent.
        package var standard: [UInt8]?

        /// Creates a member.
        package init(_ key: String, _ shape: Shape, note: String? = nil) {
            (self.key, self.shape, self.note) = (key, shape, note)
        }
    }

    /// The keys, in the order in which they are shown.
    package var members: [Member] = []
    /// The keys that must have a value.
    package var required: Set<String> = []
    /// Sets of keys of which exactly one must have a value.
    package var alternatives: [[String]] = []
    /// Sets of keys of which one or more must have a value.
    package var choices: [[String]] = []

    /// Creates a mapping with these keys.
    package init(_ members: [Member] = []) { self.members = members }

    /// Adds what a key takes, to what is known of it.
    mutating func note(_ key: String, _ shape: Shape, _ note: String? = nil) {
        if let place = members.firstIndex(where: { $0.key == key }) {
            members[place].shape = members[place].shape.or(shape)
            members[place].note = note ?? members[place].note
        } else {
            members.append(Member(key, shape, note: note))
        }
    }

    /// Gives a key one value.
    package mutating func fix(_ key: String, to word: String) {
        for place in members.indices where members[place].key == key { members[place].shape = .words([word]) }
    }

    /// Notes that a key is another kind's.
    mutating func forbid(_ key: String) {
        note(key, .nothing)
        for place in members.indices where members[place].key == key { members[place].shape = .nothing }
    }

    /// Sets the JSON of the value that counts if the key is absent.
    mutating func note(standard: [UInt8], for key: String) {
        guard let place = members.firstIndex(where: { $0.key == key }) else { return }
        members[place].standard = standard
    }
}
