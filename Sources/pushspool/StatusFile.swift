import APNSModel
import Document
import JSON
import LinuxIO
import SpoolModel

/// What daemons say of themselves, in `<spool>/.pushspool/public/<node>/status.json`.
struct StatusFile {
    private static let byteLimit = 64 << 20

    /// The file as it is.
    let bytes: [UInt8]
    /// What it says; `nil` if it is of another version.
    let status: SpoolStatus?

    /// Reads that of one node.
    ///
    /// - Throws: `SystemError`: there is none, or it cannot be read.
    init(spool: String, node: String) throws(SystemError) {
        let folder = try Directory.open(path: "\(spool)/.pushspool/public/\(node)")
        try self.init(in: folder)
    }

    private init(in folder: Directory) throws(SystemError) {
        bytes = try folder.contents(of: Array(SpoolStatus.fileName.utf8), limit: Self.byteLimit) ?? []
        var parser = JSON.Parser()
        status = (try? parser.parse(bytes).root).flatMap { SpoolStatus($0) }
    }

    /// How old what is said of jobs under way may be: it is said every second.
    private static let progressAge = Duration.seconds(5)

    /// What all nodes say that have said something lately, without progress that nobody may have made.
    static func all(of spool: String) -> [SpoolStatus] {
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

    /// How far a job is, if it takes long enough for anybody to say so.
    static func progress(of job: String, app: String, in spool: String) -> SpoolStatus.Job? {
        all(of: spool).lazy.flatMap(\.apps).filter { $0.name == app }.flatMap(\.progress).first { $0.name == job }
    }
}
