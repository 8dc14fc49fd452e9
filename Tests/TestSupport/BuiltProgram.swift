import Foundation

/// The programs that were built with the tests.
package enum BuiltProgram {
    /// There is none.
    package struct Missing: Error {
        /// Where it was looked for.
        package let paths: [String]
    }

    /// Where `pushspool` is: beside the tests.
    ///
    /// - Throws: `Missing`: it was not built.
    package static var path: String { get throws(Missing) { try path(of: "pushspool") } }

    /// Where `pushspool-door` is.
    ///
    /// - Throws: `Missing`: it was not built.
    package static var doorPath: String { get throws(Missing) { try path(of: "pushspool-door") } }

    private static func path(of name: String) throws(Missing) -> String {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let folders = [bundle, FileManager.default.currentDirectoryPath + "/.build/debug"]
        let paths = folders.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw Missing(paths: paths)
        }
        return path
    }
}
