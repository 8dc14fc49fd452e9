/// What a check needs to know about one declaration of a type, a member or a function.
struct Declaration {
    /// A type or an extension, as seen by its members.
    struct Scope {
        /// The keyword: `struct`, `class`, `enum`, `actor`, `protocol` or `extension`.
        let keyword: String
        /// The name, with dots for an extension of a nested type.
        let name: String
        /// What stands after the colon; an actor also conforms to `Actor`.
        let inherited: [String]
        /// The access level as written.
        let access: String?
    }

    /// The keyword that introduces it: `func`, `init`, `var`, `case`, `struct` …
    let keyword: String
    /// The name, with dots for an extension of a nested type; an operator's characters; `init` and `subscript` for those.
    var name: String
    /// The access level as written.
    let access: String?
    /// The types and extensions around it, outermost first.
    let scopes: [Scope]
    /// For types: what stands after the colon.
    var inherited: [String] = []
    /// The attributes before it, by name.
    let attributes: [String]
    /// Whether it belongs to the type and not to its values.
    let isStatic: Bool
    /// The line of the keyword.
    let line: Int
    /// For types: the lines from the keyword to the closing brace.
    var lineCount = 1
    /// The lines of its `///` comment.
    let documentation: [String]
    /// Whether calling or reading it may throw.
    var isThrowing = false
    /// Whether a value of the type around it has room for it: a variable that is neither static nor computed.
    var isStored = false
    /// The indexes of the braces around its body, if it has one.
    var body: ClosedRange<Int>?
}

extension Declaration {
    /// Whether other targets can see it: `package` or `public` itself, or a case or a requirement of such a type.
    var isVisible: Bool {
        if Self.isVisible(access) { return true }
        guard access == nil, let scope = scopes.last else { return false }
        let isPart = (scope.keyword == "enum" && keyword == "case") || scope.keyword == "protocol"
        return isPart && Self.isVisible(scope.access)
    }

    private static func isVisible(_ access: String?) -> Bool {
        access == "package" || access == "public" || access == "open"
    }
}
