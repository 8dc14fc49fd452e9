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
    /// The name; an operator's characters; `init` and `subscript` for those.
    let name: String
    /// The access level as written.
    let access: String?
    /// The types and extensions around it, outermost first.
    let scopes: [Scope]
    /// For types: what stands after the colon.
    var inherited: [String] = []
    /// The attributes before it, by name.
    let attributes: [String]
    /// The line of the keyword.
    let line: Int
    /// The lines of its `///` comment.
    let documentation: [String]
    /// Whether calling or reading it may throw.
    var isThrowing = false
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
