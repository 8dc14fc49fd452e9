package import APNSModel

/// How long a file is watched before it is believed, and how long before it is given up.
package struct IntakeRules: Hashable, Sendable {
    /// Which files must carry an end marker: `...`, a closing bracket, or `count`.
    package enum RequireEnd: String, CaseIterable, Hashable, Sendable {
        /// None: a file that ends in a newline and was long unchanged is whole.
        case never
        /// Those that were not renamed into place.
        case inPlace = "in_place"
    }

    /// How long a file written in place must be unchanged before it is looked into.
    package var settle = Duration.seconds(1)
    /// How long a file may be unreadable, empty or incomplete before it fails.
    package var patience = Duration.seconds(10)
    /// How long an unfinished rsync is waited for while its temporary file exists.
    package var rsyncPatience = Duration.seconds(3600)
    /// Which files must carry an end marker.
    package var requireEnd = RequireEnd.never
    /// Pauses for files that cannot be claimed or are held open by a writer.
    package var retry = BackOff(first: .seconds(1), ceiling: .seconds(30))
    /// How many files of a lane may be attended to while they only wait for their turn; the others wait by name.
    package var attention = 16_384
    /// How many bytes the names of a lane that wait like that may take. What is beyond is left to a later scan.
    package var backlogByteCount = 64 << 20
    /// How many bytes may be kept, about, of files that are left alone until their times come. What is beyond is forgotten,
    /// and read again after every scan.
    package var postponedByteCount = 128 << 20

    /// Creates the rules that apply if nobody says otherwise.
    package init() {}
}
