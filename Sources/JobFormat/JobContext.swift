package import APNSModel
package import Document
package import PushModel

/// The inputs for reading a job other than its bytes.
package struct JobContext: Sendable {
    /// The job's id.
    package var job: JobID
    /// When the job was dropped; relative times count from it.
    package private(set) var droppedAt: WallTime
    /// The same in boot time; `give_up_after` counts from it.
    package private(set) var dropMoment: Moment
    /// The history of the wall clock.
    package private(set) var clock = ClockHistory()
    /// The protocol that will carry the job, which determines limits and available fields.
    package var carrier: Carrier
    /// The app's own topic, without the suffix of a push type.
    package var topic: String?
    /// The app's credential for a topic over HTTP/2; `nil` if unknown, and then topics are not checked against it.
    package var identity: PushTopic.Identity?
    /// The app's channels, by name.
    package var channels: [String: BroadcastChannel] = [:]
    /// Whether members that FCM is not known to have only get a warning.
    package var toleratesUnknownFields = false
    /// The app's policy for notifications in doubt; a job may override it.
    package var onDoubt = OnDoubt.resend
    /// The maximum size and depth of a document.
    package var limits = DocumentLimits()
    /// The lane that the file's name requests.
    package var lane = Lane.normal
    /// Whether the file appeared under its name in one step. If so, its last byte is really the end.
    package var isPublishedByRename = true
    /// Whether duplicates are also detected by the file's content.
    package var isComparedByFile = false

    /// Reads JSON.
    package typealias TextReader = @Sendable ([UInt8]) throws(Diagnostic) -> Tape
    /// Reads a payload given as JSON text.
    let readText: TextReader

    /// Creates a context with the defaults of an app.
    package init(
        job: JobID, droppedAt: WallTime, carrier: Carrier, readingTextWith readText: @escaping TextReader
    ) {
        self.job = job
        self.droppedAt = droppedAt
        self.dropMoment = clock.moment(of: droppedAt)
        self.carrier = carrier
        self.readText = readText
    }

    /// Compiles a payload, which may be given as JSON text. Faults inside such a text are reported at its place.
    func readPayload<Compiled>(
        _ node: Node, path: String, _ findings: inout Findings, compile: (Node, inout Findings) -> Compiled?
    ) -> Compiled? {
        guard let text = node.string else { return compile(node, &findings) }
        do throws(Diagnostic) {
            let tape = try readText(Array(text.utf8))
            var inner = Findings(at: .root, room: findings.room)
            let compiled = compile(tape.root, &inner)
            findings.add(contentsOf: inner.moved(to: node.place))
            return compiled
        } catch {
            let message = "expected \(node.mappingName), or JSON text: \(error.message)"
            findings.add(.badPayload, whole: Diagnostic(message, hint: error.hint, at: node.place).about(path))
            return nil
        }
    }

    /// Records when the job was dropped.
    ///
    /// - Parameters:
    ///   - stamp: The wall clock's time at the drop.
    ///   - now: The current time; a drop is never later.
    ///   - clock: The history of the wall clock.
    package mutating func noteDrop(at stamp: WallTime, now: WallTime, by clock: ClockHistory) {
        self.clock = clock
        droppedAt = min(stamp, now)
        dropMoment = clock.moment(of: stamp)
    }
}

extension Carrier {
    /// Whether this is one of the binary protocol's commands.
    var isBinary: Bool {
        switch self {
        case .simple, .enhanced, .frame: true
        case .http2, .fcm: false
        }
    }

    /// Whether the protocol carries a priority.
    var carriesPriority: Bool {
        switch self {
        case .simple, .enhanced: false
        case .frame, .http2, .fcm: true
        }
    }
}
