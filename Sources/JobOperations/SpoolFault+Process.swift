import Document
import JSON
import LinuxIO
import SpoolModel
package import SpoolStore

extension SpoolFault {
    private static let statusLimit = 64 << 20

    /// Returns the same fault with the process of the daemon that has the spool, as far as its status tells. Blocks.
    ///
    /// - Parameter spool: The path of the spool.
    /// - Returns: The fault; unchanged if no status tells.
    package func withProcess(in spool: String) -> SpoolFault {
        guard let holder, let status = Self.status(of: holder, in: spool) else { return self }
        return SpoolFault("\(message), process \(status.processID)", hint: hint, cause: cause)
    }

    /// The status of a node; `nil` if it has written none yet, or it cannot be read, which is no reason to say less.
    private static func status(of node: String, in spool: String) -> SpoolStatus? {
        guard let folder = try? Directory.open(path: "\(spool)/.pushspool/public/\(node)"),
            let bytes = try? folder.contents(of: Array(SpoolStatus.fileName.utf8), limit: statusLimit)
        else { return nil }
        var parser = JSON.Parser()
        return (try? parser.parse(bytes).root).flatMap { SpoolStatus($0) }
    }
}
