import APNSBinary
package import Document
import JSON
package import JobFormat
import JournalModel
import LinuxIO
package import PushModel
import ServiceProcess
package import SpoolModel
package import SpoolStore

/// Reads job files as the daemon would, without sending anything.
package struct JobCheck: Sendable {
    /// The result of checking one file.
    package struct Verdict: Sendable {
        /// Errors and warnings, in the order of the file.
        package let diagnostics: [Diagnostic]
        /// The number of recipients.
        package let recipientCount: Int
        /// The number of recipients that would be rejected.
        package let rejectedCount: Int
        /// Whether anything would be sent.
        package let isSendable: Bool
        /// The earliest time to send; `nil` if the job does not specify one.
        package let notBefore: WallTime?
        /// The producer's own name for it (`id:`).
        package let ref: String?
    }

    private let terms: JobContext

    /// Creates a check for an app's jobs; with `nil` for Apple's jobs in general.
    package init(for app: AppList.App?, limits: DocumentLimits = DocumentLimits()) {
        if let app {
            terms = JobContext(checkingFor: app, limits)
        } else {
            var general = JobContext(job: JobID(bits: 0), droppedAt: .now, carrier: .http2)
            general.limits = limits
            terms = general
        }
    }

    /// Creates a check for jobs in general that this carrier takes.
    init(for carrier: Carrier) {
        terms = JobContext(job: JobID(bits: 0), droppedAt: .now, carrier: carrier)
    }

    /// Reads a file completely, as if it were dropped now. Blocks.
    ///
    /// - Parameter path: The file; symbolic links are followed.
    /// - Returns: The result of the check.
    /// - Throws: `Diagnostic` if the file cannot be read, or its name is not valid for a job.
    package func read(_ path: String) throws(Diagnostic) -> Verdict {
        guard let name = FileName(FilePlace(path).name), name.isJob else {
            throw Diagnostic(
                "file name must end in .json, .yaml, .yml or .jsonl", hint: "rename it, without a dot at the start")
        }
        return try read(try open(name, at: path), droppedAt: .now)
    }

    /// Reads a job without a file completely, as if it were dropped now under this name. Blocks.
    ///
    /// - Parameters:
    ///   - bytes: The job.
    ///   - name: A valid name for a job; its suffix determines the format.
    /// - Returns: The result of the check.
    /// - Throws: `Diagnostic` if a temporary file in `TMPDIR` cannot be written.
    package func read(_ bytes: [UInt8], named name: FileName) throws(Diagnostic) -> Verdict {
        let folder = EnvironmentVariable.value("TMPDIR") ?? "/tmp"
        let job: OpenJob
        do {
            let place = try Directory.open(path: folder)
            let temporary = Array(".pushspool-check-\(Host.processID)".utf8)
            let file = try place.create(temporary, mode: 0o600)
            try place.unlink(temporary)
            try file.write(bytes)
            job = OpenJob(name: name, status: try file.status(), file: file)
        } catch {
            throw Diagnostic("\(error)", hint: "set TMPDIR to a folder with free space")
        }
        return try read(job, droppedAt: .now)
    }

    /// Reads a job that is one JSON document in memory, as if it were dropped now with this id.
    ///
    /// - Returns: Errors and warnings, and its first notifications, at most 1024; none if the job, or each of them, is faulty.
    package func notifications(of json: [UInt8], id: JobID) -> (diagnostics: [Diagnostic], batches: [Batch]) {
        var context = terms
        (context.lane, context.job) = (.normal, id)
        var parser = JSON.Parser(limits: terms.limits)
        var reader = DocumentJobReader(parsing: json, with: &parser, context: context)
        let summary = reader.validate()
        let batches = summary.failure == nil ? reader.next()?.batches : nil
        return (summary.report.inOrder, batches ?? [])
    }

    private func open(_ name: FileName, at path: String) throws(Diagnostic) -> OpenJob {
        do {
            let file = try OpenFile.open(path: path)
            return OpenJob(name: name, status: try file.status(), file: file)
        } catch {
            throw Diagnostic("\(error)", hint: "check the path and its permissions")
        }
    }

    /// Reads an open file completely. Blocks.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - droppedAt: The time of the drop, to which relative times in the job refer.
    /// - Returns: The result of the check.
    /// - Throws: `Diagnostic` if the file cannot be read or is not a regular file.
    package func read(_ job: OpenJob, droppedAt: WallTime) throws(Diagnostic) -> Verdict {
        guard job.status.kind == .regular else { throw Diagnostic("is not a regular file", hint: "give a job file") }
        let layout = JournalLayout(byteCount: Journal.usualByteCount)
        guard job.name.form != .lines || layout.canHold(checkCount: JournalHeader.checkCount(of: job.status.byteCount))
        else { throw Diagnostic("the file is longer than 31 GiB", hint: "split it into several jobs") }
        var context = terms
        context.lane = job.name.lane
        context.noteDrop(at: droppedAt, now: droppedAt, by: ClockHistory())
        do {
            let summary = try JobSource.read(job, context, within: .ofThisThread(for: job)).summary
            var diagnostics = summary.report.inOrder
            if summary.failure == nil, !summary.isSealed, !summary.endsInNewline, var doubt = summary.doubt {
                // For a file that is dropped by a rename this is not an error.
                doubt.severity = .warning
                diagnostics.append(doubt)
            }
            return Verdict(
                diagnostics: diagnostics, recipientCount: summary.recipientCount,
                rejectedCount: summary.rejectedCount,
                isSendable: summary.failure == nil && summary.rejectedCount < summary.recipientCount,
                notBefore: summary.header.notBefore, ref: summary.header.ref)
        } catch {
            throw Diagnostic("\(error)", hint: "check the path and its permissions")
        }
    }
}
