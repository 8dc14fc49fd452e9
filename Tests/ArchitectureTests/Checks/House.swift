/// How large the types and targets of the product are, and whether its folders use each other in circles.
///
/// A type counts with all its extensions in its target: cutting it into files makes no two types of it.
struct House {
    /// Something that a reader has to hold in the head, and how much of it.
    struct Size: Hashable {
        /// What is counted.
        enum Unit: String {
            case lines, functions
            case storedProperties = "stored properties"
            case foldersInCircles = "folders that use each other in a circle"
        }

        /// A target, or a type as `Target.Type`.
        let subject: String
        let unit: Unit
    }

    /// A size that is over its limit for now, and why.
    struct Exception {
        let size: Size
        /// What it is; it may shrink and not grow.
        let count: Int
        let reason: String

        init(_ subject: String, _ unit: Size.Unit, _ count: Int, _ reason: String) {
            (size, self.count, self.reason) = (Size(subject: subject, unit: unit), count, reason)
        }
    }

    static let typeLines = 500
    static let typeFunctions = 45
    static let typeStoredProperties = 20
    static let targetLines = 6500

    /// All sizes over their limits.
    private(set) var excesses: [Size: Int] = [:]

    /// Measures the product's part of `files`.
    init(_ files: [SourceFile]) {
        for (target, files) in Dictionary(grouping: files.filter(\.isSource), by: \.target) {
            let lines = files.map { file in file.text.utf8.count { $0 == UInt8(ascii: "\n") } }
            note(lines.reduce(0, +), .lines, of: target, over: Self.targetLines)
            measureTypes(files, of: target)
            note(FolderUse(files).circling.count, .foldersInCircles, of: target, over: 0)
        }
    }

    private mutating func measureTypes(_ files: [SourceFile], of target: String) {
        var lines: [String: Int] = [:]
        var functions: [String: Int] = [:]
        var properties: [String: Int] = [:]
        for declaration in files.flatMap(\.declarations) {
            let type = declaration.scopes.map(\.name).joined(separator: ".")
            if declaration.isType {
                lines[declaration.path, default: 0] += declaration.lineCount
            } else if ["func", "init", "subscript"].contains(declaration.keyword) {
                functions[type, default: 0] += 1
            } else if declaration.isStored {
                properties[type, default: 0] += 1
            }
        }
        for (type, count) in lines { note(count, .lines, of: "\(target).\(type)", over: Self.typeLines) }
        for (type, count) in functions { note(count, .functions, of: "\(target).\(type)", over: Self.typeFunctions) }
        // A plain record of many fields is no burden.
        for (type, count) in properties where functions[type, default: 0] > 3 {
            note(count, .storedProperties, of: "\(target).\(type)", over: Self.typeStoredProperties)
        }
    }

    private mutating func note(_ count: Int, _ unit: Size.Unit, of subject: String, over limit: Int) {
        if count > limit { excesses[Size(subject: subject, unit: unit)] = count }
    }

    /// What is over its limit, has outgrown its exception, or needs one no more: the list may only shrink.
    func findings(with exceptions: [Exception]) -> [Finding] {
        let allowed = Dictionary(exceptions.map { ($0.size, $0.count) }, uniquingKeysWith: min)
        let grown = excesses.compactMap { size, count -> String? in
            guard count > allowed[size, default: 0] else { return nil }
            return
                "\(size.subject) has \(count) \(size.unit.rawValue), at most \(allowed[size] ?? limit(size)): split it"
        }
        let shrunk = exceptions.compactMap { exception -> String? in
            let count = excesses[exception.size, default: 0]
            // A few lines of leeway: not every change has to touch the list.
            guard count + exception.count / 20 < exception.count || count == 0 else { return nil }
            let new = count == 0 ? "take it off the list" : "write \(count)"
            return
                "\(exception.size.subject) has shrunk from \(exception.count) \(exception.size.unit.rawValue): \(new)"
        }
        return (grown + shrunk).sorted()
            .map { Finding(path: "Tests/ArchitectureTests/Checks/HouseExceptions.swift", line: 1, message: $0) }
    }

    private func limit(_ size: Size) -> Int {
        switch size.unit {
        case .lines: size.subject.contains(".") ? Self.typeLines : Self.targetLines
        case .functions: Self.typeFunctions
        case .storedProperties: Self.typeStoredProperties
        case .foldersInCircles: 0
        }
    }
}

extension Declaration {
    fileprivate var isType: Bool {
        ["struct", "class", "enum", "actor", "protocol", "extension"].contains(keyword)
    }

    /// The name with those of the types around it.
    fileprivate var path: String { (scopes.map(\.name) + [name]).joined(separator: ".") }
}
