package import PushModel

extension FileName {
    /// The format of a job file, given by the ending of its name.
    package enum Form: Hashable, Sendable {
        /// One JSON document: `*.json`.
        case json
        /// One YAML document: `*.yaml`, `*.yml`.
        case yaml
        /// One JSON value per line: `*.jsonl`.
        case lines
    }

    /// The format of the file; `nil` for a name that cannot be a job's. The daemon must not touch such a file.
    ///
    /// Not jobs: names that start with `.`, lack a job ending, or end with `~` or `.result.json`. Endings are lower case.
    package var form: Form? {
        guard bytes.first != 0x2E, !hasEnding(Self.resultEnding) else { return nil }
        return jobEndings.first { hasEnding($0.bytes) }?.form
    }

    /// Whether the file may be a job.
    package var isJob: Bool { form != nil }

    /// The lane that the name requests with a prefix `urgent-` or `bulk-`. The file's own `lane` takes precedence.
    package var lane: Lane {
        Self.laneBeginnings.first { bytes.starts(with: $0.bytes) }?.lane ?? .normal
    }

    private static let laneBeginnings = Lane.allCases.filter { $0 != .normal }
        .map { (lane: $0, bytes: Array("\($0.rawValue)-".utf8)) }

    /// The ending including its dot: everything from the last dot; empty if there is none.
    package var ending: ArraySlice<UInt8> {
        guard let point = bytes.lastIndex(of: 0x2E), point > 0 else { return [] }
        return bytes[point...]
    }

    /// The name without its ending.
    package var stem: ArraySlice<UInt8> {
        bytes.dropLast(ending.count)
    }

    /// The name of the result file next to an archived job: `<name>.result.json`.
    ///
    /// - Returns: `nil` if it exceeds 255 bytes; call `shortened(toFit:)` first to make room.
    package var result: FileName? {
        FileName(bytes: bytes + Self.resultEnding)
    }

    /// The job that has a result file of this name; `nil` if this is not the name of a result file.
    package var jobOfResult: FileName? {
        hasEnding(Self.resultEnding) ? FileName(bytes: Array(bytes.dropLast(Self.resultEnding.count))) : nil
    }

    /// The name of the remainder file next to a held job in `hold/`: `<name>.rest`.
    ///
    /// - Returns: `nil` if it exceeds 255 bytes; call `numbered(_:toFit:)` first to make room.
    package var rest: FileName? { FileName(bytes: bytes + Self.restEnding) }

    /// Whether this is the name of a remainder file.
    package var isRest: Bool { hasEnding(Self.restEnding) }

    /// The job that has a remainder file of this name; `nil` if this is not the name of one.
    package var withoutRest: FileName? { isRest ? FileName(bytes: Array(bytes.dropLast(Self.restEnding.count))) : nil }

    /// The most bytes in a name that leaves room for the name of its remainder file.
    package static let byteLimitWithRest = byteLimit - restEnding.count

    private static let restEnding = Array(".rest".utf8)

    /// The most bytes in a name that leaves room for the name of its result file.
    package static let byteLimitWithResult = byteLimit - resultEnding.count

    private static let resultEnding = Array(".result.json".utf8)

    /// Whether the name ends with `ending` and is longer than it.
    private func hasEnding(_ ending: [UInt8]) -> Bool {
        bytes.count > ending.count && bytes.suffix(ending.count) == ending[...]
    }
}

private let jobEndings: [(bytes: [UInt8], form: FileName.Form)] = [
    (Array(".json".utf8), .json), (Array(".yaml".utf8), .yaml), (Array(".yml".utf8), .yaml),
    (Array(".jsonl".utf8), .lines),
]
