import JSON
import LinuxIO
package import SpoolModel
import SpoolStore

/// The apps that daemons publish for everybody.
package enum PublishedApps {
    /// Reads the lists of all nodes of a spool, the newest first; without those that cannot be read. Blocks.
    package static func lists(in spool: String) -> [AppList] {
        guard let folder = try? Spool.publicFolder(in: Directory.open(path: spool)) else { return [] }
        var parser = JSON.Parser()
        var found: [(list: AppList, writtenAt: Int64)] = []
        for node in (try? folder.names()) ?? [] {
            // Another version, or damaged: the daemon writes it again.
            if let list = try? Spool.publishedApps(of: node, in: folder, &parser) { found.append(list) }
        }
        return found.sorted { $0.writtenAt > $1.writtenAt }.map(\.list)
    }
}
