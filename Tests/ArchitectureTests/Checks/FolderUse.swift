/// Which folders of a target use types of which others.
struct FolderUse {
    /// For each folder: those that it uses. What lies beside them has the name of the target.
    private(set) var uses: [String: Set<String>] = [:]

    /// Looks at the files of one target.
    init(_ files: [SourceFile]) {
        var homes: [String: String] = [:]
        for file in files {
            for declaration in file.declarations
            where declaration.scopes.isEmpty && Self.typeKeywords.contains(declaration.keyword) {
                homes[declaration.name] = file.folder
            }
        }
        for file in files {
            for (index, token) in file.tokens.enumerated() where token.kind == .word {
                // A member of another type may have the same name.
                guard file.token(index, -1)?.isCode(".") != true, let home = homes[token.text], home != file.folder
                else { continue }
                uses[file.folder, default: []].insert(home)
            }
        }
    }

    private static let typeKeywords: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    /// The folders from which a way leads back to them.
    var circling: Set<String> { Set(uses.keys.filter { reachable(from: $0).contains($0) }) }

    private func reachable(from folder: String) -> Set<String> {
        var found: Set<String> = []
        var next = uses[folder] ?? []
        while let folder = next.popFirst() {
            if found.insert(folder).inserted { next.formUnion(uses[folder] ?? []) }
        }
        return found
    }
}

extension SourceFile {
    /// The folder inside the target; the target itself for what lies beside its folders.
    fileprivate var folder: String {
        let parts = path.split(separator: "/").dropFirst(2)
        return parts.count > 1 ? String(parts.first ?? "") : target
    }
}
