extension Fields {
    /// Reads a mapping through its own `Fields`. Unknown keys in it are reported when `read` returns.
    package mutating func mapping<Value>(_ key: String, read: (inout Fields) -> Value) -> Value? {
        if isSketch {
            let inner = Fields.sketch(node[key] ?? Tape().root, by: read)
            sketch(key, .object(inner))
            return nil
        }
        guard let value = value(key) else { return nil }
        return inside(value, path: path(of: key), read: read)
    }

    /// Reads a sequence of mappings, each through its own `Fields`.
    package mutating func mappings<Value>(_ key: String, read: (inout Fields) -> Value) -> [Value]? {
        sketch(key, .list(.object(Fields.sketch(by: read))))
        guard let list = sequence(key) else { return nil }
        let path = path(of: key)
        return list.elements.enumerated().map { inside($1, path: "\(path)[\($0)]", read: read) }
    }

    /// Returns a sequence for the caller to iterate over.
    package mutating func sequence(_ key: String) -> Node? {
        guard let value = value(key) else { return nil }
        if value.kind == .sequence { return value }
        refuseType(key, value, expected: value.sequenceName)
        return nil
    }

    /// Reads a sequence of strings. Invalid elements are reported and omitted.
    package mutating func strings(_ key: String) -> [String]? {
        sketch(key, .list(.scalar()))
        guard let list = sequence(key) else { return nil }
        var strings: [String] = []
        for (index, element) in list.elements.enumerated() {
            if let text = element.string {
                strings.append(text)
            } else {
                refuseType("\(key)[\(index)]", element, expected: "a string")
            }
        }
        return strings
    }

    private mutating func inside<Value>(_ node: Node, path: String, read: (inout Fields) -> Value) -> Value {
        var inner = Fields(node, path: path, report: report)
        report = Report()
        let value = read(&inner)
        report = inner.finish()
        return value
    }
}
