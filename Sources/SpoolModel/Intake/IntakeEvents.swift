package import JobFormat
package import PushModel

/// A report of the watch about a name in `new/`. A lost or extra one changes when a file is taken, not the result.
package enum IntakeHint: Hashable, Sendable {
    /// A file was renamed to the name.
    case movedIn
    /// A file was created under the name.
    case created
    /// A file's bytes changed.
    case modified
    /// A writer closed the file.
    case closedAfterWrite
    /// The name no longer exists.
    case goneAway
}

/// The result of an attempt to take a file.
package enum IntakeAnswer: Hashable, Sendable {
    /// The file was moved: to `work/` or to `failed/`.
    case moved
    /// The file no longer exists.
    case gone
    /// A writer still has the file open (the read lease was refused).
    case busy
    /// The file had been replaced or was no longer complete, and was renamed back under this name, which is usually its own.
    case returned(FileName)
    /// Permission to open the file was denied.
    case unreadable
    /// The file cannot be moved, or reading it failed: a filesystem or permission fault.
    case stuck
    /// The file is complete but waits for an event other than a time of day; `resume` says when it may be taken.
    case deferred
}

/// What a full read of a file showed about its end.
package struct IntakeReading: Hashable, Sendable {
    /// Why the job would fail; `nil` if it would not.
    package var failure: ResultCode?
    /// Whether the file declares that it is complete.
    package var isSealed: Bool
    /// Whether its last byte is a newline.
    package var endsInNewline: Bool
    /// The earliest time at which to claim it; `nil` if it may be claimed now.
    package var notBefore: WallTime?

    /// Creates a reading.
    package init(failure: ResultCode? = nil, isSealed: Bool, endsInNewline: Bool) {
        self.failure = failure
        self.isSealed = isSealed
        self.endsInNewline = endsInNewline
    }

    /// Takes a reader's summary; `time` is the current time of day.
    package init(_ summary: JobSummary, at time: WallTime) {
        self.init(
            failure: summary.failure, isSealed: summary.isSealed, endsInNewline: summary.endsInNewline)
        notBefore = summary.header.notBefore.flatMap { $0 > time ? $0 : nil }
    }
}

/// What to do with a file after its reading.
package enum IntakeDecision: Hashable, Sendable {
    /// Claim it.
    case claim
    /// Release it; it may be incomplete.
    case wait
    /// Release it; it is complete, but must not be claimed before this time.
    case postpone(WallTime)
    /// Move it to `failed/` with this code.
    case fail(ResultCode)
}

/// The next step for a name in `new/`.
package enum IntakeAction: Hashable, Sendable {
    /// `lstat` the file, then call `sighted`, or `answer` if it is gone.
    case look(FileName)
    /// Open, lease, read and check the file, then call `read` or `answer`.
    case open(FileName, isPublishedByRename: Bool)
    /// Move the file to `failed/` with this code, then call `answer`.
    case fail(FileName, ResultCode)
    /// Move the entry to `failed/` without opening it, then call `answer`.
    case moveAsItIs(FileName)
    /// Log once that the file cannot be read or moved, and stays in place.
    case warnStuck(FileName)
    /// Log once that the file waits because nothing in it marks its end.
    case warnUnmarked(FileName)
    /// Log and count that another file replaced this one before it was taken.
    case noteOverwritten(FileName)
}
