package import JobFormat

/// What producers may know of a job that has ended: a line in the app's `tmp/.jobs/`, where whoever may drop jobs can read.
///
/// A line is the escaped name that the job was dropped by, the inode of its file, its path below the app's folder, and the
/// content of its result file or, if every notification was accepted, `{}`; with a tab between them and a line feed at the
/// end. The inode tells jobs of the same name apart.
package struct EndedJob: Hashable, Sendable {
    /// The folder in `tmp/`.
    package static let folder = Array(".jobs".utf8)
    /// The file in it with lines about the files in `hold/`, all without a result.
    package static let heldName = Array("held".utf8)
    /// The longest such list that is read, in bytes: 10,000 of the longest lines.
    package static let heldByteLimit = 16 << 20
    /// The longest result in a line, in bytes. Of a longer one the line has the first findings, and no indexes.
    package static let resultByteLimit = 8 << 10

    /// The path below the app's folder, for example `done/2026-11-21/storm.json`.
    package let path: String
    /// The result file on one line; `nil` if every notification was accepted.
    package let result: [UInt8]?

    /// Returns the name of a node's file of such lines, or of the one before it, which is kept when a new one begins.
    package static func fileName(of node: String, isEarlier: Bool = false) -> [UInt8] {
        Array("\(isEarlier ? "earlier" : "ended")-\(node)".utf8)
    }

    /// Whether a file in the folder has such lines, by its name.
    package static func isFile(_ name: [UInt8]) -> Bool {
        name.starts(with: "ended-".utf8) || name.starts(with: "earlier-".utf8)
    }

    /// Returns the line about a job, whose file has this inode. The result file is made only if the job gets one.
    package static func line(_ report: JobReport, _ result: @autoclosure () -> ResultFile, inode: UInt64) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        report.identity.name.appendEscaped(to: &line)
        line.append(tab)
        line.append(contentsOf: String(inode).utf8)
        line.append(tab)
        let path = report.path.utf8
        line.append(contentsOf: path[(path.firstIndex(of: slash).map(path.index(after:)) ?? path.startIndex)...])
        line.append(tab)
        line.append(contentsOf: report.needsResult ? result().line(limit: resultByteLimit) : nothing)
        line.append(lineFeed)
        return line
    }

    /// Returns what the last complete line about a job says.
    ///
    /// - Parameters:
    ///   - name: The name that it was dropped by.
    ///   - bytes: Whole lines, and perhaps parts of others at both ends.
    ///   - isStart: Whether the bytes start with a whole line.
    /// - Returns: `nil` if there is none.
    package static func last(of name: FileName, in bytes: [UInt8], isStart: Bool) -> EndedJob? {
        var start: [UInt8] = []
        name.appendEscaped(to: &start)
        start.append(tab)
        guard var end = bytes.lastIndex(of: lineFeed) else { return nil }
        while true {
            let before = bytes[..<end].lastIndex(of: lineFeed)
            guard let first = before.map({ $0 + 1 }) ?? (isStart ? 0 : nil) else { return nil }
            if bytes[first..<end].starts(with: start), let job = EndedJob(bytes[(first + start.count)..<end]) {
                return job
            }
            guard first > 0 else { return nil }
            end = first - 1
        }
    }

    private init?(_ rest: ArraySlice<UInt8>) {
        let parts = rest.split(separator: Self.tab, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let path = String(validating: parts[1], as: UTF8.self) else { return nil }
        (self.path, result) = (path, parts[2].elementsEqual(Self.nothing) ? nil : Array(parts[2]))
    }

    private static let nothing = Array("{}".utf8)
    private static let (tab, slash, lineFeed) = (UInt8(ascii: "\t"), UInt8(ascii: "/"), UInt8(ascii: "\n"))
}
