import LinuxIO

/// The result of moving a file through an app's folders as a job is moved.
struct MoveProbe: Sendable {
    /// The app.
    let app: String
    /// The error that stopped the file.
    var refusal: SystemError?

    /// Moves an empty hidden file from `tmp/` through all folders that exist. Blocks.
    static func look(at app: String, in spool: String, node: String) -> MoveProbe {
        var facts = MoveProbe(app: app)
        let name = Array(VolumeFacts.prefix.utf8)
        do throws(SystemError) {
            let home = try Directory.open(path: spool).openChild(Array(app.utf8))
            var way: [Directory] = []
            for folder in ["tmp", "new", "work/\(node)", "hold", "done", "failed"] {
                if let next = try child(folder, of: home) { way.append(next) }
            }
            try walk(way, name)
        } catch {
            facts.refusal = error
        }
        return facts
    }

    private static func walk(_ way: [Directory], _ name: [UInt8]) throws(SystemError) {
        guard let first = way.first, let last = way.last else { return }
        do throws(SystemError) {
            try first.create(name, mode: 0o600).closeNow()
            for (from, to) in zip(way, way.dropFirst()) { try from.rename(name, to: to, replacing: name) }
            try last.unlink(name)
        } catch {
            for folder in way { _ = try? folder.unlink(name) }
            throw error
        }
    }

    /// Opens a folder below another; `nil` if it does not exist.
    private static func child(_ path: String, of home: Directory) throws(SystemError) -> Directory? {
        var folder = home
        for name in path.split(separator: "/") {
            do throws(SystemError) {
                folder = try folder.openChild(Array(name.utf8))
            } catch {
                guard error.isNotFound else { throw error }
                return nil
            }
        }
        return folder
    }
}
