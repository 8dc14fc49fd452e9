import Configuration
import Document
import JSON
import JournalModel
import LinuxIO
import PushModel
import ServiceProcess
import SpoolModel

/// The state of a daemon as seen from another process: its status file, its journal and its control socket.
struct DaemonFacts: Sendable {
    /// The state of the journal, from its first page.
    enum Journal: Hashable, Sendable {
        /// The journal does not exist yet. The daemon creates it when it starts.
        case missing
        /// The journal cannot be read, for lack of permission or because of its disk.
        case unreadable(SystemError)
        /// The first page is damaged, or of another version.
        case damaged
        /// The first page is valid and names this node; with the size of the file.
        case whole(node: String, byteCount: Int64)
    }

    /// The state of the control socket.
    enum Control: Hashable, Sendable {
        /// A process accepts connections.
        case answered
        /// No process listens.
        case silent
        /// The socket cannot be written to, or its folder cannot be opened.
        case unreachable(SystemError)
    }

    /// The node's name.
    let node: String
    /// When the facts were gathered.
    let now: WallTime
    /// The content of the daemon's status file; `nil` if there is none or it cannot be read.
    var status: SpoolStatus?
    /// Why the status file cannot be read, if it exists.
    var statusFault: String?
    /// The state of the journal.
    var journal = Journal.missing
    /// Whether a daemon holds the journal's lock; `nil`: unknown.
    var isLocked: Bool?
    /// The path and state of the control socket; `nil`: not checked.
    var control: (path: String, state: Control)?

    private static let statusLimit = 64 << 20

    /// Gathers all facts. Takes no lock, not even briefly. Blocks.
    ///
    /// - Parameters:
    ///   - node: The node's name.
    ///   - spool: The path of the node's spool.
    ///   - folder: The folder of the control socket.
    /// - Returns: The facts.
    static func look(at node: String, in spool: String, control folder: String) -> DaemonFacts {
        var facts = DaemonFacts(node: node, now: .now)
        facts.readStatus(in: spool)
        facts.readJournal(in: spool)
        facts.tryControl(in: folder)
        return facts
    }

    /// Whether the daemon runs; `nil`: unknown.
    var isRunning: Bool? {
        if let isLocked { return isLocked }
        guard case .answered? = control?.state else { return nil }
        return true
    }

    private mutating func tryControl(in path: String) {
        let name = DaemonConfiguration.controlName(of: node)
        let state: Control
        do throws(SystemError) {
            let folder = try Directory.open(path: path)
            state = try LocalSocket.isAnswered(Array(name.utf8), in: folder) ? .answered : .silent
        } catch {
            state = error.isNotFound ? .silent : .unreachable(error)
        }
        control = (path + "/" + name, state)
    }

    private mutating func readStatus(in spool: String) {
        do {
            let folder = try Directory.open(path: "\(spool)/.pushspool/public/\(node)")
            let bytes = try folder.contents(of: Array(SpoolStatus.fileName.utf8), limit: Self.statusLimit) ?? []
            var parser = JSON.Parser()
            status = SpoolStatus(try parser.parse(bytes).root)
            if status == nil { statusFault = "written by another version" }
        } catch let error as SystemError where error.isNotFound {
            return
        } catch {
            statusFault = "\(error)"
        }
    }

    private mutating func readJournal(in spool: String) {
        do throws(SystemError) {
            let folder = try Directory.open(path: "\(spool)/.pushspool/\(node)")
            let file = try folder.openForReading(Array("journal".utf8))
            isLocked = try? file.isLockedElsewhere()
            var page: [UInt8] = []
            _ = try file.read(JournalLayout.labelByteCount, at: 0, appendingTo: &page)
            let byteCount = try file.status().byteCount
            if let label = JournalLabel(bytes: page) {
                journal = .whole(node: label.node, byteCount: byteCount)
            } else {
                // Treat a journal that is being created, or whose creation was interrupted, as missing.
                journal = JournalLabel.isUnfinished(page) ? .missing : .damaged
            }
        } catch {
            journal = error.isNotFound ? .missing : .unreadable(error)
        }
    }
}

extension DaemonConfiguration {
    /// Whether the node's daemon runs, according to the lock of its journal, or else its control socket. `nil`: neither
    /// can be checked. Takes no lock. Blocks.
    package var hasDaemon: Bool? {
        DaemonFacts.look(at: node ?? Host.name, in: spool, control: control.folder).isRunning
    }
}
