import APNSModel
import Document
import JSON
import LinuxIO
import SpoolModel

/// What can be seen of a daemon from beside: what it says of itself, and its journal.
struct DaemonFacts: Sendable {
    /// A journal's first page.
    enum Journal: Hashable, Sendable {
        /// There is none: the daemon makes it.
        case missing
        /// It may not be read, or its disk does not let it be.
        case unreadable(SystemError)
        /// Its first page is damaged, or of another version.
        case damaged
        /// It is a node's, with its size.
        case whole(node: String, byteCount: Int64)
    }

    /// Whether the daemon can be given commands.
    enum Control: Hashable, Sendable {
        /// Its socket is answered.
        case answered
        /// Nobody listens there.
        case silent
        /// It may not be written to, or its folder not be opened.
        case unreachable(SystemError)
    }

    /// The node.
    let node: String
    /// When it was looked.
    let now: WallTime
    /// What the daemon says of itself, if it does.
    var status: SpoolStatus?
    /// Why that cannot be read, though it is there.
    var statusFault: String?
    /// The journal.
    var journal = Journal.missing
    /// Whether some daemon holds the journal's lock; `nil`: that cannot be seen.
    var isLocked: Bool?
    /// The control socket, and what it was found to be; `nil`: nobody has looked.
    var control: (path: String, state: Control)?

    private static let statusLimit = 64 << 20

    /// Looks at all of it. Takes no lock, not even for a moment. Blocks.
    ///
    /// - Parameters:
    ///   - node: The node.
    ///   - spool: Its spool.
    ///   - folder: Where its control socket is.
    /// - Returns: What was seen.
    static func look(at node: String, in spool: String, control folder: String) -> DaemonFacts {
        var facts = DaemonFacts(node: node, now: .now)
        facts.readStatus(in: spool)
        facts.readJournal(in: spool)
        facts.tryControl(in: folder)
        return facts
    }

    /// Whether the daemon runs; `nil`: that cannot be seen.
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
            if status == nil { statusFault = "it is not of this version" }
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
                // One that is being made, or whose making was cut off, is as good as none.
                journal = JournalLabel.isUnfinished(page) ? .missing : .damaged
            }
        } catch {
            journal = error.isNotFound ? .missing : .unreadable(error)
        }
    }
}

extension DaemonConfiguration {
    /// Whether the node's daemon runs, as seen from beside: by its journal's lock, or else its control socket. `nil`: neither can
    /// be seen. Takes no lock. Blocks.
    package var hasDaemon: Bool? {
        DaemonFacts.look(at: node ?? Host.name, in: spool, control: controlFolder).isRunning
    }
}
