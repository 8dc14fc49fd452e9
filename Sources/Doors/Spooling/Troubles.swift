import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolClient

/// Logs why something fails, however many requests fail by it: each cause once, until it works again.
///
/// Causes that come and go, such as a full volume, are logged once a minute.
struct Troubles {
    private let logger: Logger
    private let words: (failing: Logger.Message, working: Logger.Message)
    private let hint: String?
    private let key: String
    private var subjects: [String: Subject] = [:]

    /// What fails or works, such as the jobs of an app.
    private struct Subject {
        /// The causes, and when each was logged last.
        var causes: [String: Moment] = [:]
        /// Whether the log says that it fails.
        var isFailing = false
    }

    private static let quiet = Duration.seconds(60)
    /// How many causes of one subject are known: some name a job.
    private static let causeLimit = 100

    /// Creates a list with the messages to log.
    ///
    /// - Parameters:
    ///   - words: The message with each cause, and the one when it works again.
    ///   - key: The key of the subject in the log.
    ///   - hint: What an operator can do, unless the errors say it.
    ///   - logger: The logger.
    init(
        _ words: (failing: Logger.Message, working: Logger.Message), about key: String = LogKey.app,
        hint: String? = nil, _ logger: Logger
    ) {
        (self.words, self.key, self.hint, self.logger) = (words, key, hint, logger)
    }

    /// Logs why it failed, unless that is known. With `nil` it worked.
    mutating func note(_ error: (any Error)?, about name: String = "", at now: Moment = .now) {
        var subject = subjects[name] ?? Subject()
        defer { subjects[name] = subject }
        guard let error else {
            if subject.isFailing { logger.notice(words.working, metadata: metadata(of: name)) }
            subject.isFailing = false
            return
        }
        let cause = error.cause
        let isQuiet = subject.causes[cause].map { subject.isFailing || now < $0 + Self.quiet } ?? false
        guard !isQuiet else { return }
        if subject.causes.count >= Self.causeLimit { subject.causes = [:] }
        subject.causes[cause] = now
        subject.isFailing = true
        var metadata = metadata(of: name)
        metadata[LogKey.error] = "\(error)"
        if let hint { metadata[LogKey.hint] = "\(hint)" }
        logger.error(words.failing, metadata: metadata)
    }

    private func metadata(of name: String) -> Logger.Metadata { name.isEmpty ? [:] : [key: "\(name)"] }
}

extension Error {
    /// What stays the same if something fails again in the same way: no name of a file, which may be another each time.
    var cause: String {
        switch self {
        case let error as SystemError: error.cause
        case let error as SpoolClientError: error.cause
        default: "\(self)"
        }
    }
}
