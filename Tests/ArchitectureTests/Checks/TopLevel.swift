/// The top folder holds what it always held, and nothing else.
enum TopLevel {
    private static let names: Set = [
        "LICENSE", "Makefile", "Package.swift", "README.md", "Sources", "Tests", "etc", "spool",
    ]

    /// Names that do not belong there. Dot-files do, and the lock of dependency versions that the build leaves.
    static func findings(in present: [String]) -> [Finding] {
        present.filter { !names.contains($0) && !$0.hasPrefix(".") && $0 != "Package.resolved" }
            .map { Finding(path: $0, line: 1, message: "does not belong in the top folder") }
    }

    /// Paths that differ from another only by capitals: a filesystem that ignores case keeps one of them.
    static func doubles(in paths: [String]) -> [Finding] {
        Dictionary(grouping: paths) { $0.lowercased() }.values.filter { $0.count > 1 }.map { paths in
            let paths = paths.sorted()
            return Finding(path: paths[0], line: 1, message: "differs from \(paths[1]) only by capitals")
        }
    }
}
