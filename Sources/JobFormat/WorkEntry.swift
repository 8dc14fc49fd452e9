package import PushModel

/// The name of an entry in `work/<node>/`; a claimed job is `<id>-<name>`.
///
/// The name is cut to fit 255 bytes. The full name is then in a separate file, `<id>.name`, which is written and synced
/// before the claim and removed after the job has left. While a result file is published but its job is not next to it
/// yet, a file `<id>.place` records the place.
package enum WorkEntry: Hashable, Sendable {
    /// A job with its name, which may be cut.
    case job(JobID, name: FileName)
    /// The file with the full name.
    case fullName(JobID)
    /// The file that records where a result file waits for its job.
    case place(JobID)
    /// A job that is being rewritten from the journal.
    case restored(JobID)
    /// A result file that is being written.
    case result(JobID)

    /// Parses an entry's name.
    ///
    /// - Returns: `nil` for a foreign file.
    package init?(_ entry: FileName) {
        let text = entry.bytes.prefix(Self.idLength).map { Character(Unicode.Scalar($0)) }
        guard text.count == Self.idLength, let id = JobID(String(text)),
            id.description.utf8.elementsEqual(entry.bytes.prefix(Self.idLength))
        else { return nil }
        let rest = entry.bytes.dropFirst(Self.idLength)
        if rest.elementsEqual(".name".utf8) {
            self = .fullName(id)
        } else if rest.elementsEqual(".place".utf8) {
            self = .place(id)
        } else if rest.elementsEqual(".restored".utf8) {
            self = .restored(id)
        } else if rest.elementsEqual(".result".utf8) {
            self = .result(id)
        } else if rest.first == 0x2D, let name = FileName(bytes: Array(rest.dropFirst())) {
            self = .job(id, name: name)
        } else {
            return nil
        }
    }

    /// Returns the entry for a job called `name`, and whether it contains the whole name.
    package static func entry(for name: FileName, id: JobID) -> (entry: [UInt8], isWhole: Bool) {
        let cut = name.shortened(toFit: FileName.byteLimit - idLength - 1)
        var entry: [UInt8] = []
        entry.reserveCapacity(idLength + 1 + cut.bytes.count)
        id.append(to: &entry)
        entry.append(UInt8(ascii: "-"))
        entry.append(contentsOf: cut.bytes)
        return (entry, cut == name)
    }

    /// Whether a job's entry contains its whole name.
    package static func hasWhole(_ name: FileName, in entry: FileName) -> Bool {
        entry.bytes.count == idLength + 1 + name.bytes.count
    }

    /// The name of the file with the full name.
    package static func fullName(of id: JobID) -> [UInt8] {
        Array((id.description + ".name").utf8)
    }

    /// The name of the file that records where a result file waits for its job.
    package static func place(of id: JobID) -> [UInt8] {
        Array((id.description + ".place").utf8)
    }

    /// The name of a job that is being rewritten.
    package static func restored(_ id: JobID) -> [UInt8] {
        Array((id.description + ".restored").utf8)
    }

    /// The name of a result file until it is next to its job.
    package static func result(of id: JobID) -> [UInt8] {
        Array((id.description + ".result").utf8)
    }

    private static let idLength = 26
}
