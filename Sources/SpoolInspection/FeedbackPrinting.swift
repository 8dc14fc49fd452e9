import Document
package import LinuxIO
import ServiceProcess
package import SpoolModel

/// Prints feedback file by file.
package struct FeedbackPrinting {
    /// The form of the output.
    package enum Form {
        /// The unchanged lines.
        case lines
        /// The lines as a table.
        case table
        /// The tokens that are gone, as JSON objects.
        case goneLines
        /// The tokens that are gone, as a table.
        case goneTable
    }

    private let feedback: FeedbackFiles
    private let filter: FeedbackFilter
    private let form: Form
    private let removes: Bool
    private var output = OutputBuffer()
    private var gone = GoneList()
    /// Whether all files and lines could be read.
    package private(set) var isWhole = true

    /// The positions of the requested jobs that have a line of feedback, even one that the filter omits.
    package private(set) var met: Set<Int> = []

    /// Creates a printer for the lines of feedback that pass the filter. It removes the files afterwards if `removes` is
    /// set.
    package init(_ feedback: FeedbackFiles, filter: FeedbackFilter, form: Form, removes: Bool) {
        (self.feedback, self.filter) = (feedback, filter)
        (self.form, self.removes) = (form, removes)
    }

    /// Prints the header, if the form has one.
    ///
    /// - Throws: `SystemError`: writing failed.
    package mutating func begin() throws(SystemError) {
        switch form {
        case .table: try output.append(FeedbackTable.header)
        case .goneTable: try output.append(FeedbackTable.row(GoneList.columns))
        case .lines, .goneLines: break
        }
    }

    /// Prints the next files.
    ///
    /// - Returns: `false` if there are none for now.
    /// - Throws: `SystemError`: a folder could not be read, or the lines could not be written.
    package mutating func printNext() throws -> Bool {
        let files = try feedback.nextFiles()
        for file in files {
            // All lines of a file are older than its publication.
            let isTooOld = if let time = file.publishedAt, let since = filter.since { time < since } else { false }
            if isTooOld { feedback.pass(file) } else { try print(file) }
        }
        for skipped in feedback.takeSkipped() {
            isWhole = false
            Talk.complain(skipped.message, hint: skipped.hint)
        }
        try output.flush()
        return !files.isEmpty
    }

    /// Prints the lists that are known only at the end.
    ///
    /// - Throws: `SystemError`: writing failed.
    package mutating func end() throws {
        let gone = gone
        switch form {
        case .lines, .table: break
        case .goneLines: try gone.forEach { try output.append($0.json) }
        case .goneTable: try gone.forEach { try output.append(FeedbackTable.row($0.fields)) }
        }
        try output.flush()
    }

    private mutating func print(_ file: FeedbackFiles.File) throws {
        var isGood = true
        let isRead = try feedback.read(file) { number, line in
            switch line {
            case .good(let node, let bytes): try print(node, bytes, of: file)
            case .bad(let why):
                isGood = false
                Talk.complain("\(file.path):\(number): \(why)", hint: "fix the line, or remove the file")
            }
        }
        if !isGood { isWhole = false }
        guard removes, isRead, isGood else { return }
        // Remove the file only after its lines have been written and synced.
        try output.flush()
        try StandardStream.output.sync()
        try feedback.remove(file)
    }

    private mutating func print(_ line: Node, _ bytes: ArraySlice<UInt8>, of file: FeedbackFiles.File) throws {
        if !filter.jobs.isEmpty { met.formUnion(filter.jobs.positions(by: line, of: line["app"]?.string ?? "")) }
        guard filter.admits(line, publishedAt: file.publishedAt) else { return }
        switch form {
        case .lines:
            try output.append(bytes)
            try output.append(CollectionOfOne(UInt8(ascii: "\n")))
        case .table: try output.append(FeedbackTable.row(of: line))
        case .goneLines, .goneTable: gone.note(line)
        }
    }
}
