import Document
import JSON
package import LinuxIO
import PushModel
package import SpoolModel

/// The status file of a daemon, `<spool>/.pushspool/public/<node>/status.json`.
package struct StatusFile {
    private static let byteLimit = 64 << 20

    /// The bytes of the file.
    package let bytes: [UInt8]
    /// The parsed status; `nil` if the file is of another version.
    package let status: SpoolStatus?

    /// Reads the status file of a node.
    ///
    /// - Throws: `SystemError`: the file does not exist, or cannot be read.
    package init(spool: String, node: String) throws(SystemError) {
        let folder = try Directory.open(path: "\(spool)/.pushspool/public/\(node)")
        try self.init(in: folder)
    }

    private init(in folder: Directory) throws(SystemError) {
        bytes = try folder.contents(of: Array(SpoolStatus.fileName.utf8), limit: Self.byteLimit) ?? []
        var parser = JSON.Parser()
        status = (try? parser.parse(bytes).root).flatMap { SpoolStatus($0) }
    }

    /// The age up to which progress is current. The daemon writes it once per second.
    private static let progressAge = Duration.seconds(5)

    /// Returns the recent status of all nodes, without progress that is out of date.
    package static func all(of spool: String) -> [SpoolStatus] {
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        return written(in: spool).filter { now - $0.writtenAt <= SpoolStatus.interval * 2 }.map { status in
            var status = status
            guard now - status.writtenAt > progressAge else { return status }
            for index in status.apps.indices { status.apps[index].progress = [] }
            return status
        }
    }

    private static func written(in spool: String) -> [SpoolStatus] {
        guard let root = try? Directory.open(path: "\(spool)/.pushspool/public"), let nodes = try? root.names() else {
            return []
        }
        return nodes.compactMap { node in (try? root.openChild(node)).flatMap { try? StatusFile(in: $0).status } }
    }

    /// Returns the recent status of one app on all nodes.
    package static func all(of spool: String, app: String) -> [SpoolStatus.App] {
        all(of: spool).flatMap(\.apps).filter { $0.name == app }
    }
}
