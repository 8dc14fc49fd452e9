import JSON
import LinuxIO
package import SpoolModel
import SpoolStore

/// The apps that daemons publish for everybody.
package enum PublishedApps {
    /// Reads the lists of all nodes of a spool, the newest first; without those that cannot be read. Blocks.
    package static func lists(in spool: String) -> [AppList] {
        var parser = JSON.Parser()
        return (try? Spool.publishedApps(in: Directory.open(path: spool), &parser)) ?? []
    }
}
