import APNSGateway
import APNSModel
import DoorModel
import JobOperations
import LinuxIO
import Logging
import SpoolInspection

/// Reads the feedback of all apps as it is published. Doors never delete it.
///
/// It has a thread of its own, because files block.
actor FeedbackWatch {
    private let worker: WorkerThread
    private let logger: Logger
    private var shelf: FeedbackShelf
    private let horizon: Duration
    private var isComplaining = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// How many files are read at a time.
    private static let fileLimit = 64

    /// Opens the spool. Blocks.
    ///
    /// - Parameters:
    ///   - spool: The spool's path.
    ///   - horizon: How old feedback may be to be read at the start.
    ///   - logger: The logger.
    /// - Throws: `SystemError`: the spool cannot be used, or there is no thread left.
    init(spool: String, horizon: Duration, logger: Logger) throws(SystemError) {
        worker = try WorkerThread(name: "feedback")
        shelf = FeedbackShelf(root: try Directory.open(path: spool), apps: [])
        (self.horizon, self.logger) = (horizon, logger)
    }

    /// Returns what new files tell, with the apps; nothing if there are none for now.
    func hear() -> [(app: String, outcome: HeardOutcome)] {
        var heard: [(app: String, outcome: HeardOutcome)] = []
        do {
            for file in try shelf.nextFiles().prefix(Self.fileLimit) {
                if let time = file.publishedAt, WallTime.now - time > horizon {
                    shelf.pass(file)
                    continue
                }
                try shelf.read(file) { _, line in
                    guard case .good(let node, _) = line, let outcome = HeardOutcome(node) else { return }
                    heard.append((file.app, outcome))
                }
                shelf.pass(file)
            }
            isComplaining = false
        } catch {
            complain("\(error)")
        }
        if !shelf.unreadable.isEmpty {
            complain("no permission for \(shelf.unreadable.sorted().joined(separator: ", "))")
        }
        return heard
    }

    private func complain(_ error: String) {
        guard !isComplaining else { return }
        isComplaining = true
        let hint: Logger.MetadataValue = "make the door's user a member of the group of the apps' feedback/"
        logger.warning("feedback cannot be read", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }
}
