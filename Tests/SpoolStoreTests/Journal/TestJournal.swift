import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// A node's folder with a small journal in it: 16 regions of 16 KiB, and records of 2 KiB at most.
struct TestJournal {
    static let layout = JournalLayout(byteCount: 4096 + 16 << 14, regionByteCount: 1 << 14)

    let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
    }

    /// Opens the journal as the next daemon does, the last one having gone.
    func open() throws -> (journal: Journal, replay: JournalReplay) {
        try JournalLock.openJournal(of: "host-a", in: place.directory, layout: Self.layout)
    }
}

/// The header of a job whose bytes are in it.
func header(_ id: JobID, recipients: Int = 100, bytes: Int = 10) throws -> JournalHeader {
    var facts = JournalHeader.Facts(id: id, app: "weather", name: try fileName("\(id).json"))
    facts.recipientCount = recipients
    facts.byteCount = Int64(bytes)
    return JournalHeader(facts, content: .bytes([UInt8](repeating: UInt8(truncatingIfNeeded: id.bits), count: bytes)))
}

/// That these were accepted.
func accepted(_ id: JobID, _ range: Range<Int>) -> JournalRecord {
    .result(id, JournalResult(.accepted, [range], at: WallTime(epochSeconds: 1_795_262_400)))
}

/// Jobs by number.
func job(_ number: Int) -> JobID {
    JobID(bits: UInt128(number))
}
