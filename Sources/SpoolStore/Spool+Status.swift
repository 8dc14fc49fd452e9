package import Document
package import LinuxIO
package import SpoolModel

/// The daemon's public files: its status, its apps and its metrics.
extension Spool {
    /// Replaces the status in one step. A crash may leave an older one.
    ///
    /// - Throws: `SystemError`: the volume is full or not writable. The old status is intact.
    package func publish(_ status: SpoolStatus) throws(SystemError) {
        try publish(status.json, as: SpoolStatus.fileName)
    }

    /// Replaces the list of apps in one step. A crash may leave an older one.
    ///
    /// - Throws: `SystemError`: as for the status.
    package func publish(_ list: AppList) throws(SystemError) {
        try publish(list.json, as: AppList.fileName)
    }

    /// Replaces the metrics, given as text, in one step. A crash may leave older ones.
    ///
    /// - Throws: `SystemError`: as for the status.
    package func publish(metrics text: [UInt8]) throws(SystemError) {
        try publish(text, as: SpoolMetrics.fileName)
    }

    /// Removes the status and the metrics.
    ///
    /// - Throws: `SystemError`: the volume is not writable.
    package func removeStatus() throws(SystemError) {
        let folder = try Self.makePublicDirectory(of: node, in: root)
        try folder.unlink(Array(SpoolStatus.fileName.utf8))
        try folder.unlink(Array(SpoolMetrics.fileName.utf8))
    }

    /// Whether there is a list of apps, which programs may have removed.
    ///
    /// - Throws: `SystemError`: it is unknown.
    package func hasPublishedApps() throws(SystemError) -> Bool {
        try Self.makePublicDirectory(of: node, in: root).status(of: Array(AppList.fileName.utf8)) != nil
    }

    private func publish(_ bytes: [UInt8], as name: String) throws(SystemError) {
        // A collector of `*.prom` files must not find an incomplete file.
        let folder = try Self.makePublicDirectory(of: node, in: root)
        try folder.replace(Array(name.utf8), by: Array(".\(name)~".utf8), mode: 0o644) {
            (file) throws(SystemError) in try file.write(bytes)
        }
    }

    /// Reads the list of apps that a node has published. Blocks.
    ///
    /// - Parameters:
    ///   - node: The name of the node.
    ///   - folder: The folder of all nodes' public files, as `publicFolder(in:)` opens it.
    ///   - parser: A JSON parser.
    /// - Returns: The list, and when it was written, in nanoseconds since 1970; `nil` if there is none.
    /// - Throws: `SystemError`; `Diagnostic`: it is no JSON; `SpoolFault`: it has another version.
    package static func publishedApps(
        of node: [UInt8], in folder: Directory, _ parser: inout some DocumentParser
    ) throws -> (list: AppList, writtenAt: Int64)? {
        let (place, name) = (try folder.openChild(node), Array(AppList.fileName.utf8))
        guard try place.status(of: name) != nil else { return nil }
        let file = try place.openRegular(name)
        let writtenAt = try file.status().modifiedAt
        guard let bytes = try file.contents(limit: 64 << 20), let list = AppList(try parser.parse(bytes).root) else {
            throw SpoolFault(
                "\(file.path) has another version, or is damaged", hint: "remove it: the daemon writes it again")
        }
        return (list, writtenAt)
    }

    /// Reads the lists of apps that the nodes of a spool have published, the newest first. Blocks.
    ///
    /// - Parameters:
    ///   - root: The spool.
    ///   - parser: A JSON parser.
    ///   - note: Called for each node; with the error if its list cannot be read, which is then left out: the daemon writes it
    ///     again.
    /// - Returns: The lists that could be read.
    /// - Throws: `SystemError`: as `publicFolder(in:)`.
    package static func publishedApps(
        in root: Directory, _ parser: inout some DocumentParser, _ note: ([UInt8], (any Error)?) -> Void = { _, _ in }
    ) throws(SystemError) -> [AppList] {
        let folder = try publicFolder(in: root)
        var found: [(list: AppList, writtenAt: Int64)] = []
        for node in try folder.names() {
            do {
                if let list = try publishedApps(of: node, in: folder, &parser) { found.append(list) }
                note(node, nil)
            } catch {
                note(node, error)
            }
        }
        return found.sorted { $0.writtenAt > $1.writtenAt }.map(\.list)
    }

    /// Opens the folder of all nodes' public files. Blocks.
    ///
    /// - Throws: `SystemError`: no daemon has ever run on the spool; or for example EACCES.
    package static func publicFolder(in root: Directory) throws(SystemError) -> Directory {
        try root.openChild(folderName).openChild(Array("public".utf8))
    }

    /// Returns the mark that the nodes of this spool have published; a random one if none has. Blocks.
    ///
    /// - Throws: `SystemError`: the folder cannot be read.
    package func mark(_ parser: inout some DocumentParser) throws(SystemError) -> UInt32 {
        let found = try Self.publishedApps(in: root, &parser).compactMap(\.mark).min()
        return found ?? .random(in: 0 ... .max)
    }
}
