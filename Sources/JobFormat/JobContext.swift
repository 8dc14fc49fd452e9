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
