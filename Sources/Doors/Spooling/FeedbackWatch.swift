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
    private var complaints: Set<String> = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// How many files are read at a time.
    private static let fileLimit = 64
    /// How many causes are logged.
    private static let complaintLimit = 1_000

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

    /// Returns what new files tell, with the apps, and whether there are more files.
    func hear() -> (lines: [(app: String, outcome: HeardOutcome)], hasMore: Bool) {
        var heard: [(app: String, outcome: HeardOutcome)] = []
        do {
            let files = try shelf.nextFiles()
            var count = 0
            for file in files {
                if let time = file.publishedAt, WallTime.now - time > horizon {
                    shelf.pass(file)
                    continue
                }
                guard count < Self.fileLimit else { return (heard, true) }
                count += 1
                hear(file, &heard)
                shelf.pass(file)
            }
        } catch {
            complain("\(error)")
        }
        for folder in shelf.unreadable.sorted() { complain("no permission for \(folder)") }
        return (heard, false)
    }

    /// Reads a file. One that cannot be read does not keep others from being read.
    private func hear(_ file: FeedbackShelf.File, _ heard: inout [(app: String, outcome: HeardOutcome)]) {
        do {
            try shelf.read(file) { _, line in
                guard case .good(let node, _) = line, let outcome = HeardOutcome(node) else { return }
                heard.append((file.app, outcome))
            }
        } catch let error as SystemError where error.isNotFound {
            // Its consumer has removed it in the meantime.
        } catch {
            complain("a file of app \(file.app) cannot be read: \(error)")
        }
    }

    /// Logs each cause once.
    private func complain(_ error: String) {
        guard complaints.count < Self.complaintLimit, complaints.insert(error).inserted else { return }
        let hint: Logger.MetadataValue = "make the door's user a member of the group of the apps' feedback/"
        logger.warning("feedback cannot be read", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }
}
