extension Node {
    /// Whether the node is JSON's null or a plain null of YAML's core schema (empty, `~`, `null`).
    package var isNull: Bool {
        switch kind {
        case .null: true
        case .plain: CoreSchema.resolve(bytes) == .null
        case .mapping, .sequence, .key, .string, .number, .true, .false: false
        }
    }

    /// Whether the node is a mapping or a sequence.
    package var isContainer: Bool { kind == .mapping || kind == .sequence }

    /// The text if the node is a string: a JSON string, or any YAML scalar except a plain null.
    package var string: String? {
        switch kind {
        case .string, .key: text
        case .plain: isNull ? nil : text
        case .mapping, .sequence, .number, .true, .false, .null: nil
        }
    }

    /// The value if the node is a boolean; in YAML, the plain scalars `true`, `True`, `TRUE` and their opposites.
    package var boolean: Bool? {
        switch kind {
        case .true: return true
        case .false: return false
        case .plain:
            guard case .boolean(let value) = CoreSchema.resolve(bytes) else { return nil }
            return value
        case .mapping, .sequence, .key, .string, .number, .null: return nil
        }
    }

    /// The value if the node is a 64-bit integer: a JSON number without fraction and exponent, or a plain YAML integer
    /// of any base.
    package var integer: Int? {
        switch kind {
        case .number: return Int(text)
        case .plain:
            guard case .integer(let digits) = CoreSchema.resolve(bytes) else { return nil }
            return Int(digits)
        case .mapping, .sequence, .key, .string, .true, .false, .null: return nil
        }
    }

    /// The text of a string, a number or a plain YAML scalar except null, for fields that parse it further: `+3600`,
    /// `"15s"`, `17`.
    package var scalarText: String? {
        switch kind {
        case .string, .number: text
        case .plain: isNull ? nil : text
        case .mapping, .sequence, .key, .true, .false, .null: nil
        }
    }
}
