import Logging
import ServiceProcess
import SpoolInspection

/// Logs which feedback a door cannot read, each cause once.
struct FeedbackLog {
    private let logger: Logger
    private var causes: Set<String> = []

    /// How many causes are logged: consumers can create any number.
    private static let limit = 1_000

    init(_ logger: Logger) { self.logger = logger }

    /// Logs the files and folders that were skipped.
    mutating func note(_ skipped: [FeedbackFiles.Skipped]) {
        for file in skipped where isNew(file.message) {
            logger.warning(
                "feedback file is skipped",
                metadata: [
                    LogKey.path: "\(file.path)", LogKey.error: "\(file.message)", LogKey.hint: "\(file.hint)",
                ])
        }
    }

    /// Logs that the feedback cannot be read for now.
    mutating func note(_ error: any Error) {
        guard isNew("\(error)") else { return }
        let hint: Logger.MetadataValue = "check the folder's permissions and disk; the door tries again"
        logger.warning("feedback cannot be read", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }

    private mutating func isNew(_ cause: String) -> Bool {
        causes.count < Self.limit && causes.insert(cause).inserted
    }
}
