import APNSBinary
package import APNSModel
package import Document
import LinuxIO
import SpoolModel
import SpoolStore

/// Reads job files as the daemon would, and sends nothing.
package struct JobCheck: Sendable {
    /// What was found in one file.
    package struct Verdict: Sendable {
        /// Errors and warnings, in the order of the file.
        package let diagnostics: [Diagnostic]
        /// How many recipients it has.
        package let recipientCount: Int
        /// How many of them nothing would be sent to.
        package let rejectedCount: Int
        /// Whether anything would be sent.
        package let isSendable: Bool
        /// Before when it would not; `nil` if it does not say.
        package let notBefore: WallTime?
    }

    private let app: ConfigurationSet.App?
    private let limits: DocumentLimits

    /// Creates a check for jobs of an app; of none in particular with `nil`.
    package init(for app: ConfigurationSet.App?, limits: DocumentLimits = DocumentLimits()) {
        self.app = app
        self.limits = limits
    }

    /// Reads a file to its end. Blocks.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - droppedAt: When it was dropped, from where relative times count; now if it is left out.
    /// - Returns: What was found in it.
    /// - Throws: `Diagnostic` when it cannot be read or has no job's name.
    package func read(_ path: String, droppedAt: WallTime? = nil) async throws(Diagnostic) -> Verdict {
        guard let name = FileName(ConfigurationFile.name(of: path)), name.isJob else {
            throw Diagnostic(
                "the name is no job's", hint: "name it *.json, *.yaml, *.yml or *.jsonl, without a point in front")
        }
        do {
            let file = try OpenFile.open(path: path)
            let status = try file.status()
            guard status.kind == .regular else { throw Diagnostic("is no regular file", hint: "name a file") }
            let job = OpenJob(name: name, status: status, file: file)
            var context = context(of: name)
            context.droppedAt = droppedAt ?? context.droppedAt
            let summary = try await JobSource.open(job, context: context).summary
            return Verdict(
                diagnostics: summary.report.inOrder, recipientCount: summary.recipientCount,
                rejectedCount: summary.rejectedCount,
                isSendable: summary.failure == nil && summary.rejectedCount < summary.recipientCount,
                notBefore: summary.header.notBefore)
        } catch let diagnostic as Diagnostic {
            throw diagnostic
        } catch {
            throw Diagnostic("\(error)", hint: "check the path and its permissions")
        }
    }

    private func context(of name: FileName) -> JobContext {
        let carrier = app?.configuration.carrier ?? .http2
        var context = JobContext(job: JobID(bits: 0), droppedAt: .now, carrier: carrier, topic: app?.identity.topic)
        context.identity = app?.identity.proof
        context.onDoubt = app?.configuration.onDoubt ?? .resend
        context.limits = limits
        context.lane = name.lane
        return context
    }
}
