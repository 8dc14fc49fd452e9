/// A JSON Schema (draft 2020-12) made of shapes: for editors, validators, and the description of the JSON door.
package struct JSONSchema: Sendable {
    private let title: String
    private let root: Shape
    private let definitions: [(name: String, shape: Shape)]

    /// Creates a schema; `.defined` shapes refer to the definitions.
    package init(_ title: String, _ root: Shape, definitions: [(name: String, shape: Shape)] = []) {
        (self.title, self.root, self.definitions) = (title, root, definitions)
    }

    /// The schema as a document of its own, and a line feed.
    package var document: [UInt8] {
        var writer = SchemaWriter(definedUnder: "#/$defs/")
        writer.json.beginObject()
        writer.json.member("$schema", "https://json-schema.org/draft/2020-12/schema")
        writer.json.member("title", title)
        writer.members(of: root)
        if !definitions.isEmpty {
            writer.json.key("$defs")
            writer.json.beginObject()
            writer.write(definitions)
            writer.json.endObject()
        }
        writer.json.endObject()
        return writer.json.bytes + [UInt8(ascii: "\n")]
    }

    /// The schema and its definitions as members of an object without its braces, for a document that has them under a path.
    ///
    /// - Parameters:
    ///   - name: The name of the schema itself.
    ///   - path: The path of the object, such as `#/components/schemas/`.
    /// - Returns: The members.
    package func members(named name: String, under path: String) -> [UInt8] {
        var writer = SchemaWriter(definedUnder: path)
        writer.write([(name, root)] + definitions)
        return writer.json.bytes
    }
}

/// Writes shapes as JSON Schema.
private struct SchemaWriter {
    var json = JSONWriter()
    private let path: String

    init(definedUnder path: String) { self.path = path }

    mutating func write(_ definitions: [(name: String, shape: Shape)]) {
        for (name, shape) in definitions {
            json.key(name)
            write(shape)
        }
    }

    private mutating func write(_ shape: Shape, orNull: Bool = false, _ member: ObjectShape.Member? = nil) {
        if shape == .nothing { return json.boolean(false) }
        json.beginObject()
        members(of: shape, orNull: orNull)
        json.member("description", member?.note)
        if let standard = member?.standard {
            json.key("default")
            json.raw(standard)
        }
        json.endObject()
    }

    /// Writes the keywords for a shape. With `orNull` null is allowed too.
    mutating func members(of shape: Shape, orNull: Bool = false) {
        switch shape {
        case .anything, .nothing: break
        case .text(let pattern):
            type(["string"], orNull)
            json.member("pattern", pattern)
        case .lengths(let lengths):
            type(["string"], orNull)
            json.member("minLength", lengths.lowerBound)
            if lengths.upperBound < .max { json.member("maxLength", lengths.upperBound) }
        case .scalar(let pattern):
            type(["string", "number", "boolean"], orNull)
            json.member("pattern", pattern)
        case .boolean: type(["boolean"], orNull)
        case .integer(let range): limits("integer", range, orNull)
        case .number(let range): limits("number", range, orNull)
        case .words(let words): choice(orNull) { for word in words { $0.string(word) } }
        case .numbers(let numbers): choice(orNull) { for number in numbers { $0.integer(number) } }
        case .list(let element, let isNonEmpty):
            type(["array"], orNull)
            if isNonEmpty { json.member("minItems", 1) }
            json.key("items")
            write(element)
        case .map(let value):
            type(["object"], orNull)
            json.key("additionalProperties")
            write(value)
        case .object(let object): members(of: object, orNull)
        case .any(let shapes): list("anyOf", shapes) { $0.write($1, orNull: orNull) }
        case .defined(let name):
            guard orNull else { return json.member("$ref", path + name) }
            list("anyOf", [shape, .null]) { $0.write($1) }
        case .null: json.member("type", "null")
        }
    }

    private mutating func type(_ names: [String], _ orNull: Bool) {
        let all = names + (orNull ? ["null"] : [])
        if all.count == 1 { json.member("type", all[0]) } else { list("type", all) { $0.json.string($1) } }
    }

    private mutating func limits(_ name: String, _ range: ClosedRange<Int>, _ orNull: Bool) {
        type([name], orNull)
        if range.lowerBound > .min { json.member("minimum", range.lowerBound) }
        if range.upperBound < .max { json.member("maximum", range.upperBound) }
    }

    private mutating func choice(_ orNull: Bool, _ write: (inout JSONWriter) -> Void) {
        json.key("enum")
        json.beginArray()
        write(&json)
        if orNull { json.null() }
        json.endArray()
    }

    private mutating func list<Element>(
        _ name: String, _ elements: [Element], _ write: (inout SchemaWriter, Element) -> Void
    ) {
        json.key(name)
        json.beginArray()
        for element in elements { write(&self, element) }
        json.endArray()
    }

    private mutating func members(of object: ObjectShape, _ orNull: Bool) {
        type(["object"], orNull)
        json.key("properties")
        json.beginObject()
        for member in object.members {
            json.key(member.key)
            write(member.shape, orNull: !object.required.contains(member.key), member)
        }
        json.endObject()
        json.key("additionalProperties")
        json.boolean(false)
        if !object.required.isEmpty { list("required", object.required.sorted()) { $0.json.string($1) } }
        let rules = object.alternatives.map { ("oneOf", $0) } + object.choices.map { ("anyOf", $0) }
        guard !rules.isEmpty else { return }
        list("allOf", rules) { writer, rule in
            writer.json.beginObject()
            writer.list(rule.0, rule.1) { inner, key in
                inner.json.beginObject()
                inner.list("required", [key]) { $0.json.string($1) }
                inner.json.endObject()
            }
            writer.json.endObject()
        }
    }
}
