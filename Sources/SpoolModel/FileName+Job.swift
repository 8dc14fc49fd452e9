package import APNSModel

extension FileName {
    /// How a job file is written, told by the end of its name.
    package enum Form: Hashable, Sendable {
        /// One JSON document: `*.json`.
        case json
        /// One YAML document: `*.yaml`, `*.yml`.
        case yaml
        /// One JSON value a line: `*.jsonl`.
        case lines
    }

    /// How the file is written; `nil` for a name that is never a job and must never be touched.
    ///
    /// Never jobs: names that start with `.`, without a job's ending, or with `~` or `.result.json` at the end. Endings
    /// are lower case.
    package var form: Form? {
        guard bytes.first != 0x2E, !hasEnding(Self.resultEnding) else { return nil }
        return jobEndings.first { hasEnding($0.bytes) }?.form
    }

    /// Whether the file may be a job.
    package var isJob: Bool { form != nil }

    /// What lane the name asks for, by its beginning `urgent-` or `bulk-`; the file's own `lane` goes before it.
    package var lane: Lane {
        Self.laneBeginnings.first { bytes.starts(with: $0.bytes) }?.lane ?? .normal
    }

    private static let laneBeginnings = Lane.allCases.filter { $0 != .normal }
        .map { (lane: $0, bytes: Array("\($0.rawValue)-".utf8)) }

    /// The ending with its point, a job's or whatever follows the last point; empty when there is none.
    var ending: ArraySlice<UInt8> {
        guard let point = bytes.lastIndex(of: 0x2E), point > 0 else { return [] }
        return bytes[point...]
    }

    /// What stands before the ending.
    var stem: ArraySlice<UInt8> {
        bytes.dropLast(ending.count)
    }

    /// The name of the file that stands beside an archived job and says what became of it: `<name>.result.json`.
    ///
    /// - Returns: `nil` when that has over 255 bytes; `shortened(toFit:)` makes room before.
    package var result: FileName? {
        FileName(bytes: bytes + Self.resultEnding)
    }

    /// The job beside which a file of this name is the result; `nil` when it is none.
    package var jobOfResult: FileName? {
        hasEnding(Self.resultEnding) ? FileName(bytes: Array(bytes.dropLast(Self.resultEnding.count))) : nil
    }

    /// The name of the file that stands in `hold/` beside a parked job and says what is left of it: `<name>.rest`.
    ///
    /// - Returns: `nil` when that has over 255 bytes; `numbered(_:toFit:)` makes room before.
    package var rest: FileName? { FileName(bytes: bytes + Self.restEnding) }

    /// Whether it is the name of such a file.
    package var isRest: Bool { hasEnding(Self.restEnding) }

    /// The name of the job that such a file is beside.
    package var withoutRest: FileName? { isRest ? FileName(bytes: Array(bytes.dropLast(Self.restEnding.count))) : nil }

    /// How long a name may be that gets such a file beside it.
    package static let byteLimitWithRest = byteLimit - restEnding.count

    private static let restEnding = Array(".rest".utf8)

    /// How long a name may be that gets a result file beside it.
    package static let byteLimitWithResult = byteLimit - resultEnding.count

    private static let resultEnding = Array(".result.json".utf8)

    /// Whether the name ends so, and is more than that.
    private func hasEnding(_ ending: [UInt8]) -> Bool {
        bytes.count > ending.count && bytes.suffix(ending.count) == ending[...]
    }
}

private let jobEndings: [(bytes: [UInt8], form: FileName.Form)] = [
    (Array(".json".utf8), .json), (Array(".yaml".utf8), .yaml), (Array(".yml".utf8), .yaml),
    (Array(".jsonl".utf8), .lines),
]
