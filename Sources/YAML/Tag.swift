import Document

/// The tags of scalars that YAML's core schema knows.
enum Tag {
    case string
    case integer
    case float
    case boolean
    case null

    private static let prefix = "tag:yaml.org,2002:"

    /// The tag that a mapping or sequence has by itself.
    static func name(of kind: Node.Kind) -> String { prefix + (kind == .mapping ? "map" : "seq") }

    /// Finds a tag by its full name; `nil` for one that the schema does not know.
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

    /// Tells whether a text can be what the tag says.
    func fits(_ text: ArraySlice<UInt8>) -> Bool {
        switch (self, CoreSchema.resolve(text)) {
        case (.string, _), (.integer, .integer), (.float, .integer), (.float, .float), (.float, .unwritable),
            (.integer, .unwritable), (.boolean, .boolean), (.null, .null):
            true
        case (.integer, _), (.float, _), (.boolean, _), (.null, _): false
        }
    }
}
