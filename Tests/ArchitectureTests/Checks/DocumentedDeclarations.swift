/// Every declaration that another target can see has a `///` comment, and says what it throws.
///
/// Members that a protocol demands are documented by the protocol: those of the standard library's listed here, and
/// those of our own protocols, which the caller collects.
struct DocumentedDeclarations {
    private static let standardRequirements: [String: Set<String>] = [
        "Actor": ["unownedExecutor"],
        "AsyncIteratorProtocol": ["next"],
        "AsyncParsableCommand": ["configuration", "run", "validate"],
        "AsyncSequence": ["makeAsyncIterator"],
        "BidirectionalCollection": ["startIndex", "endIndex", "index", "subscript"],
        "Collection": ["startIndex", "endIndex", "index", "subscript"],
        "Comparable": ["<"],
        "CustomDebugStringConvertible": ["debugDescription"],
        "CustomReflectable": ["customMirror"],
        "CustomStringConvertible": ["description"],
        "Equatable": ["=="],
        "ExpressibleByArrayLiteral": ["init"],
        "ExpressibleByIntegerLiteral": ["init"],
        "ExpressibleByStringLiteral": ["init"],
        "Hashable": ["==", "hash"],
        "Identifiable": ["id"],
        "IteratorProtocol": ["next"],
        "OptionSet": ["rawValue", "init"],
        "ParsableArguments": ["configuration", "validate"],
        "ParsableCommand": ["configuration", "run", "validate"],
        "RandomAccessCollection": ["startIndex", "endIndex", "index", "subscript"],
        "RandomNumberGenerator": ["next"],
        "RawRepresentable": ["rawValue", "init"],
        "Sequence": ["makeIterator", "underestimatedCount"],
        "SerialExecutor": [
            "enqueue", "asUnownedSerialExecutor", "isSameExclusiveExecutionContext", "checkIsolated",
            "isIsolatingCurrentContext",
        ],
        "TextOutputStream": ["write"],
    ]

    private var requirements = Self.standardRequirements

    /// Collects the requirements of the protocols that `files` declare.
    init(protocolsIn files: [SourceFile]) {
        for declaration in files.flatMap(\.declarations) {
            guard let scope = declaration.scopes.last, scope.keyword == "protocol" else { continue }
            requirements[scope.name, default: []].insert(declaration.name)
        }
    }

    /// The visible declarations of `file` that lack a comment or a word on what they throw.
    func findings(in file: SourceFile) -> [Finding] {
        file.declarations.compactMap { declaration in
            let isMeant = declaration.isVisible && declaration.keyword != "import" && !isDemanded(declaration)
            guard isMeant, !["extension", "deinit"].contains(declaration.keyword) else { return nil }
            if declaration.documentation.isEmpty {
                return file.finding(declaration.line, "`\(declaration.name)` has no documentation comment")
            }
            let saysWhatItThrows = declaration.documentation.contains { $0.hasPrefix("- Throws:") }
            guard declaration.isThrowing, !saysWhatItThrows else { return nil }
            return file.finding(declaration.line, "`\(declaration.name)` throws, and no `- Throws:` line says what")
        }
    }

    private func isDemanded(_ declaration: Declaration) -> Bool {
        let inherited = declaration.scopes.last?.inherited ?? []
        // The help text of a metric, which everybody sees, is its documentation.
        if declaration.keyword == "case", inherited.contains("MetricFamily") { return true }
        return inherited.contains { requirements[$0]?.contains(declaration.name) == true }
    }
}
