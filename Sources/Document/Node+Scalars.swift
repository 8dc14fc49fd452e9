extension Node {
    /// Whether it is JSON's null or a plain null of YAML's core schema (nothing, `~`, `null`).
    package var isNull: Bool {
        switch kind {
        case .null: true
        case .plain: CoreSchema.resolve(bytes) == .null
        case .mapping, .sequence, .key, .string, .number, .true, .false: false
        }
    }

    /// Whether it is a mapping or a sequence.
    package var isContainer: Bool { kind == .mapping || kind == .sequence }

    /// The text, if it can be read as a string: a JSON string, or any YAML scalar but a plain null.
    package var string: String? {
        switch kind {
        case .string, .key: text
        case .plain: isNull ? nil : text
        case .mapping, .sequence, .number, .true, .false, .null: nil
        }
    }

    /// The value, if it is true or false; of YAML's plain scalars `true`, `True`, `TRUE` and their opposites.
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

    /// The value, if it is a whole number of 64 bits: a JSON number without fraction and exponent, or a plain YAML
    /// integer of any base.
    package var integer: Int? {
        switch kind {
        case .number: return Int(text)
        case .plain:
            guard case .integer(let digits) = CoreSchema.resolve(bytes) else { return nil }
            return Int(digits)
        case .mapping, .sequence, .key, .string, .true, .false, .null: return nil
        }
    }

    /// The text of any scalar but a null, for fields whose type is finer than the document's: `+3600`, `"15s"`, `17`.
    package var scalarText: String? {
        switch kind {
        case .string, .number: text
        case .plain: isNull ? nil : text
        case .mapping, .sequence, .key, .true, .false, .null: nil
        }
    }
}
