import APNSGateway
import APNSModel
import SpoolModel
import Synchronization

/// What the watch has seen of an app and the app has not taken up: whoever puts it here does not wait for the app.
final class HintBox: Sendable {
    /// A name that something happened to.
    struct Hint: Sendable {
        let name: FileName
        let hint: IntakeHint
        let time: Moment
    }

    /// What is in the box.
    struct Content: Sendable {
        var hints: [Hint] = []
        /// Whether everything is to be looked at.
        var wantsScan = false
    }

    /// How many hints it holds: a scan finds more at once than they tell.
    private static let limit = 4096
    private let content = Mutex(Content())

    /// Puts in what happened to a name; `nil` asks for a scan.
    func add(_ name: FileName?, _ hint: IntakeHint) {
        content.withLock { content in
            guard let name, !content.wantsScan, content.hints.count < Self.limit else {
                return content.wantsScan = true
            }
            content.hints.append(Hint(name: name, hint: hint, time: .now))
        }
    }

    /// Empties it.
    func take() -> Content {
        content.withLock { content in
            defer { content = Content() }
            return content
        }
    }
}
