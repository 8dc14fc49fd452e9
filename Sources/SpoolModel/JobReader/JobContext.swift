package import APNSHTTP2
package import APNSModel
package import Document

/// What reading a job needs to know besides its bytes.
package struct JobContext: Sendable {
    /// The job's id.
    package var job: JobID
    /// When it was dropped: relative times count from here.
    package private(set) var droppedAt: WallTime
    /// The same by the boot clock: `give_up_after` counts from here.
    package private(set) var dropMoment: Moment
    /// How the wall clock has run.
    package private(set) var clock = ClockHistory()
    /// What will carry it: limits and what can be said depend on it.
    package var carrier: Carrier
    /// The app's own topic, without the suffix of a push type.
    package var topic: String?
    /// What the app proves its right to a topic with over HTTP/2; `nil`: not known, and not checked.
    package var identity: PushTopic.Identity?
    /// What the app makes of doubt; a job may say otherwise.
    package var onDoubt = OnDoubt.resend
    /// How large and deep a document may be.
    package var limits = DocumentLimits()
    /// What lane its name asks for.
    package var lane = Lane.normal
    /// Whether the file appeared under its name in one step, so that its end is its end.
    package var isPublishedByRename = true
    /// Whether it is compared with others by its file, too.
    package var isComparedByFile = false

    /// Reads JSON.
    package typealias TextReader = @Sendable ([UInt8]) throws(Diagnostic) -> Tape
    /// Reads a payload that is written as text.
    let readText: TextReader

    /// Creates a context with the defaults of an app that says nothing more.
    package init(
        job: JobID, droppedAt: WallTime, carrier: Carrier, readingTextWith readText: @escaping TextReader
    ) {
        self.job = job
        self.droppedAt = droppedAt
        self.dropMoment = clock.moment(of: droppedAt)
        self.carrier = carrier
        self.readText = readText
    }

    /// Notes when the job was dropped.
    ///
    /// - Parameters:
    ///   - stamp: What the wall clock showed then.
    ///   - now: What it shows now; a drop is never later.
    ///   - clock: How it has run.
    package mutating func noteDrop(at stamp: WallTime, now: WallTime, by clock: ClockHistory) {
        self.clock = clock
        droppedAt = min(stamp, now)
        dropMoment = clock.moment(of: stamp)
    }
}

extension Carrier {
    /// Whether it is one of the binary protocol's commands.
    var isBinary: Bool {
        switch self {
        case .simple, .enhanced, .frame: true
        case .http2: false
        }
    }

    /// Whether it carries a priority.
    var carriesPriority: Bool {
        switch self {
        case .simple, .enhanced: false
        case .frame, .http2: true
        }
    }
}
