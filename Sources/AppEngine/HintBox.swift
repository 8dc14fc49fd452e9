import APNSGateway
import APNSModel
import JobFormat
import SpoolModel
import SpoolStore
import Synchronization

/// The watch's reports that an app has not processed yet. The watch adds them without waiting for the app.
final class HintBox: Sendable {
    /// A report about a name.
    struct Hint: Sendable {
        let name: FileName
        let hint: IntakeHint
        let time: Moment
    }

    /// The content of the box.
    struct Content: Sendable {
        var hints: [Hint] = []
        /// Whether the whole folder must be scanned.
        var wantsScan = false
    }

    /// The most hints. With more, one scan is cheaper.
    private static let limit = 4096
    private let content = Mutex(Content())

    /// Adds a report about a name; `nil` asks for a scan.
    func add(_ name: FileName?, _ hint: IntakeHint) {
        content.withLock { content in
            guard let name, !content.wantsScan, content.hints.count < Self.limit else {
                return content.wantsScan = true
            }
            content.hints.append(Hint(name: name, hint: hint, time: .now))
        }
    }

    /// Removes and returns the content.
    func take() -> Content {
        content.withLock { content in
            defer { content = Content() }
            return content
        }
    }
}

extension IntakeHint {
    /// Creates the hint for a change that the watch has seen.
    init(_ change: SpoolHint.Change) {
        switch change {
        case .published: self = .movedIn
        case .created: self = .created
        case .modified: self = .modified
        case .closed: self = .closedAfterWrite
        }
    }
}
