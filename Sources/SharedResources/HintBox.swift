package import JobFormat
package import PushModel
import ServiceProcess
package import SpoolModel
package import SpoolStore
import Synchronization

/// The watch's reports that an app has not processed yet. The watch adds them without waiting for the app.
package final class HintBox: Sendable {
    /// A report about a name.
    package struct Hint: Sendable {
        /// The name in `new/`.
        package let name: FileName
        /// What happened to it.
        package let hint: IntakeHint
        /// When the watch saw it.
        package let time: Moment
    }

    /// The content of the box.
    package struct Content: Sendable {
        /// The reports, in their order.
        package fileprivate(set) var hints: [Hint] = []
        /// Whether the whole folder must be scanned.
        package fileprivate(set) var wantsScan = false
    }

    /// The most hints. With more, one scan is cheaper.
    private static let limit = 4096
    private let content = Mutex(Content())

    /// Creates an empty box.
    package init() {}

    /// Adds a report about a name; `nil` asks for a scan.
    package func add(_ name: FileName?, _ hint: IntakeHint) {
        content.withLock { content in
            guard let name, !content.wantsScan, content.hints.count < Self.limit else {
                return content.wantsScan = true
            }
            content.hints.append(Hint(name: name, hint: hint, time: .now))
        }
    }

    /// Removes and returns the content.
    package func take() -> Content {
        content.withLock { content in
            defer { content = Content() }
            return content
        }
    }
}

extension IntakeHint {
    /// Creates the hint for a change that the watch has seen.
    package init(_ change: SpoolHint.Change) {
        switch change {
        case .published: self = .movedIn
        case .created: self = .created
        case .modified: self = .modified
        case .closed: self = .closedAfterWrite
        }
    }
}
