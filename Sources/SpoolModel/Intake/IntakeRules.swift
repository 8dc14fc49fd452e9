package import PushModel

/// How long to watch a file before trusting it, and how long before giving it up.
package struct IntakeRules: Hashable, Sendable {
    /// Which files must carry an end marker: `...`, a closing bracket, or `count`.
    package enum RequireEnd: String, CaseIterable, Hashable, Sendable {
        /// None: a file is complete if it ends in a newline and was unchanged for `patience`.
        case never
        /// Files that were not renamed into place.
        case inPlace = "in_place"
    }

    /// How long a file written in place must be unchanged before it is read.
    package var settle = Duration.seconds(1)
    /// How long a file may be unreadable, empty or incomplete before it fails.
    package var patience = Duration.seconds(10)
    /// How long to wait for an unfinished rsync while its temporary file exists.
    package var rsyncPatience = Duration.seconds(3600)
    /// Which files must carry an end marker.
    package var requireEnd = RequireEnd.never
    /// Whether other hosts may write files. Their kernels write back every 30 seconds, so a file that grows all the time
    /// looks quiet in between, and a file written in place must carry an end marker.
    package var isShared = false
    /// How long such a file may wait for its end marker.
    package var markPatience = Duration.seconds(3600)
    /// The pauses between attempts for files that cannot be claimed or that a writer holds open.
    package var retry = BackOff(first: .seconds(1), ceiling: .seconds(30))
    /// The most files per lane that have attention while they only wait for their turn; the others wait in the backlog.
    package var attention = 16_384
    /// The most bytes of waiting names per lane. A later scan finds the names that do not fit.
    package var backlogByteCount = 64 << 20
    /// The approximate memory for postponed files, in bytes. Files that do not fit are forgotten, and read again after
    /// each scan.
    package var postponedByteCount = 128 << 20

    /// Creates the default rules.
    package init() {}
}
