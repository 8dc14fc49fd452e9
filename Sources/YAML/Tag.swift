import Document

/// The scalar tags of YAML's core schema.
enum Tag {
    case string
    case integer
    case float
    case boolean
    case null

    private static let prefix = "tag:yaml.org,2002:"

    /// Returns the default tag of a mapping or sequence.
    static func name(of kind: Node.Kind) -> String { prefix + (kind == .mapping ? "map" : "seq") }

    /// Creates a tag from its full name; `nil` if the schema does not have it.
    init?(_ name: String) {
        switch name {
        case "!", Self.prefix + "str": self = .string
        case Self.prefix + "int": self = .integer
        case Self.prefix + "float": self = .float
        case Self.prefix + "bool": self = .boolean
        case Self.prefix + "null": self = .null
        default: return nil
        }
    }

    /// Whether the text is a valid value for the tag.
    func fits(_ text: ArraySlice<UInt8>) -> Bool {
        switch (self, CoreSchema.resolve(text)) {
        case (.string, _), (.integer, .integer), (.float, .integer), (.float, .float), (.float, .unwritable),
            (.integer, .unwritable), (.boolean, .boolean), (.null, .null):
            true
        case (.integer, _), (.float, _), (.boolean, _), (.null, _): false
        }
    }
}
