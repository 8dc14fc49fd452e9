import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// A spool with one app in a temporary directory.
struct TestSpool {
    let place: TemporaryDirectory
    let spool: Spool
    let app: AppSpool
    let noon = WallTime(epochSeconds: 1_795_262_400)

    init() throws {
        place = try TemporaryDirectory()
        spool = try Spool(path: place.path, node: "host-a")
        app = try spool.app("weather")
    }

    /// The app as another start finds it.
    func restarted() throws -> AppSpool {
        try spool.app("weather")
    }

    /// A folder of the app.
    func folder(_ path: String) throws -> Directory {
        try Directory.open(path: "\(place.path)/weather/\(path)")
    }

    /// Drops a job under a name of any bytes and claims it.
    func claim(_ name: FileName, contents: String = "{}", id: UInt128) throws -> ClaimedJob {
        try app.new.put(name.bytes, Array(contents.utf8))
        return try claimed(name, id: id)
    }

    /// Claims what is in `new/`.
    func claimed(_ name: FileName, id: UInt128) throws -> ClaimedJob {
        guard case .claimed(let job) = try app.claim(try opened(name), id: JobID(bits: id)) else { throw NotClaimed() }
        return job
    }

    /// Opens what is in `new/`.
    func opened(_ name: FileName) throws -> OpenJob {
        guard case .opened(let job) = try app.open(name) else { throw NotClaimed() }
        return job
    }

    /// Drops, claims and archives a job, and says under which name.
    func archive(
        _ name: FileName, contents: String, id: UInt128, result: String? = nil
    ) throws -> ArchivePlace {
        let job = try claim(name, contents: contents, id: id)
        let folder: ArchiveFolder = result == nil ? .done : .failed
        let place = try app.archives.place(for: name, in: folder, at: noon, withResult: result != nil)
        return try app.archives.archive(job, at: place, result: result.map { Array($0.utf8) })
    }

    /// Refuses what was seen in `new/`.
    func refuse(_ sighting: SeenFile) throws -> DepartureOutcome {
        let place = try app.archives.place(for: sighting.name, in: .failed, at: noon, withResult: true)
        return try app.depart(sighting, from: .new, to: place)
    }

    /// What can be a job in `new/`.
    func sightings() throws -> [SeenFile] {
        var found: [SeenFile] = []
        try app.eachSighting { sighting in
            found.append(sighting)
            return true
        }
        return found.sorted { $0.name < $1.name }
    }
}

/// The test's own job could not be claimed.
struct NotClaimed: Error {}

/// A name that is known to be one.
func fileName(_ text: String) throws -> FileName {
    try #require(FileName(text))
}

/// Names that break what was not written for them.
func hostileNames() -> [FileName] {
    let ending = Array(".json".utf8)
    let singles = (UInt8.min...UInt8.max).map { [$0] + ending }
    let texts = [
        "caf\u{E9}.json", "cafe\u{301}.json", "a\nb.json", "a\r\nb.json", "-rf.json", "--.json", "a .json",
        "%41.json", "a~2.json", "x.json.json", "\u{1F600}.json", "\u{202E}txt.json", "$(reboot).json",
    ]
    let long = [UInt8](repeating: 0x78, count: 250) + ending
    let longCharacters = Array(String(repeating: "\u{E9}", count: 125).utf8) + ending
    let invalid: [[UInt8]] = [[0xFF, 0xFE], [0xC3, 0x28], [0xE2, 0x82], [0xED, 0xA0, 0x80]].map { $0 + ending }
    return (singles + texts.map { Array($0.utf8) } + [long, longCharacters] + invalid)
        .compactMap(FileName.init(bytes:)).filter(\.isJob)
}

extension AppSpool {
    /// Stages the result of a file that was not claimed, and moves the file to its place in `failed/`.
    func depart(
        _ file: SeenFile, from origin: Departure.Origin, to place: ArchivePlace
    ) throws -> DepartureOutcome {
        let report = JobReport(
            JobIdentity(name: file.name, id: JobID(bits: 1)), Conclusion(tally: Tally(), fault: .cancelled),
            notificationCount: 0, at: WallTime(nanoseconds: 0))
        var result = ResultFile(report)
        result.why = "because"
        let departure = Departure(of: file, from: origin, to: place, result)
        try departure.draft.stage(in: work)
        return try move(departure)
    }
}
