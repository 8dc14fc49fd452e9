import Foundation
package import LinuxIO

/// A directory for one test, which goes with all that is in it, whatever its names are.
package final class TemporaryDirectory: Sendable {
    /// Where it is.
    package let path: String
    /// The directory itself.
    package let directory: Directory

    /// Makes an empty one in the system's place for such.
    ///
    /// - Throws: `SystemError`: the test cannot run here.
    package init() throws {
        path = NSTemporaryDirectory() + "pushspool-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        directory = try Directory.open(path: path)
    }

    deinit {
        do {
            try removeEverything(in: directory)
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("left behind: \(path): \(error)")
        }
    }
}

private func removeEverything(in directory: Directory) throws {
    for name in try directory.names() {
        if try directory.status(of: name)?.kind == .directory {
            try removeEverything(in: try directory.openChild(name))
            try directory.removeChild(name)
        } else {
            try directory.unlink(name)
        }
    }
}

extension Directory {
    /// Makes a file with these bytes, which must not be there yet.
    ///
    /// - Throws: `SystemError` as `create` and `write`.
    package func put(_ name: String, _ contents: String = "") throws {
        try put(Array(name.utf8), Array(contents.utf8))
    }

    /// Makes a file with these bytes under a name of any bytes, which must not be there yet.
    ///
    /// - Throws: `SystemError` as `create` and `write`.
    package func put(_ name: [UInt8], _ contents: [UInt8]) throws {
        try create(name, mode: 0o644).write(contents)
    }

    /// Reads a file as text; `nil` when it is not there.
    ///
    /// - Throws: `SystemError` as `contents(of:limit:)`.
    package func text(_ name: String) throws -> String? {
        let name = Array(name.utf8)
        guard try status(of: name) != nil else { return nil }
        return try contents(of: name, limit: 1 << 24).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Its names in byte order, as text.
    ///
    /// - Throws: `SystemError` as `names()`.
    package func sortedNames() throws -> [String] {
        try names().map { String(decoding: $0, as: UTF8.self) }.sorted()
    }
}
