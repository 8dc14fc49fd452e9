package import APNSModel

/// What the watch said of a name in `new/`. A hint: a lost or extra one changes when, never what.
package enum IntakeHint: Hashable, Sendable {
    /// A file was renamed to the name.
    case movedIn
    /// A file was created under the name.
    case created
    /// A file's bytes changed.
    case modified
    /// A writer closed the file.
    case closedAfterWrite
    /// The name is gone.
    case goneAway
}

/// What came of an attempt to take a file.
package enum IntakeAnswer: Hashable, Sendable {
    /// It was moved away, to be sent or as failed.
    case moved
    /// It is not there any more.
    case gone
    /// A writer still has it open (a read lease was refused).
    case busy
    /// It was another file by then, or not all of it any more, and was renamed back under this name, as a rule its own.
    case returned(FileName)
    /// It may not be opened.
    case unreadable
    /// It cannot be moved away, or reading it failed: a fault of the filesystem or of permissions.
    case stuck
    /// It is whole, and waits for something else than a time of day: `resume` says when it may be taken.
    case deferred
}

/// What a whole pass over a file's bytes said about its end.
package struct IntakeReading: Hashable, Sendable {
    /// Why the job would fail, if it would.
    package var failure: ResultCode?
    /// Whether the file says itself that it is whole.
    package var isSealed: Bool
    /// Whether its last byte ends a line.
    package var endsInNewline: Bool
    /// Before when it is not to be claimed; `nil` if it may be at once.
    package var notBefore: WallTime?

    /// Creates a reading.
    package init(failure: ResultCode? = nil, isSealed: Bool, endsInNewline: Bool) {
        self.failure = failure
        self.isSealed = isSealed
        self.endsInNewline = endsInNewline
    }

    /// Takes over what a reader found; `time` is the present time of day.
    package init(_ summary: JobSummary, at time: WallTime) {
        self.init(
            failure: summary.failure, isSealed: summary.isSealed, endsInNewline: summary.endsInNewline)
        notBefore = summary.header.notBefore.flatMap { $0 > time ? $0 : nil }
    }
}

/// What to do about the file whose reading was just told.
package enum IntakeDecision: Hashable, Sendable {
    /// Claim it.
    case claim
    /// Let go of it; it may not be whole yet.
    case wait
    /// Let go of it; it is whole, and to be taken then.
    case postpone(WallTime)
    /// Move it to `failed/` with this code.
    case fail(ResultCode)
}

/// What to do next for a name in `new/`.
package enum IntakeAction: Hashable, Sendable {
    /// `lstat` it and tell `sighted`, or `answer` that it is gone.
    case look(FileName)
    /// Open, lease, read and check it; then tell `read`, or `answer`.
    case take(FileName, isPublishedByRename: Bool)
    /// Move it to `failed/` with this code and answer.
    case fail(FileName, ResultCode)
    /// Move the thing to `failed/` without opening it and answer.
    case moveAsItIs(FileName)
    /// Log once that the file cannot be read or moved away, and that it stays where it is.
    case warnStuck(FileName)
    /// Log and count that one producer's file was overwritten by another before it was taken.
    case noteOverwritten(FileName)
}
