import APNSModel
import Document

/// Turns one recipient after another into chunks, and keeps count of what is wrong with them.
struct RecipientCompiler: Sendable {
    let context: JobContext
    private(set) var header: JobHeader
    private(set) var report = Report()
    private(set) var rejectedCount = 0
    private(set) var failure: ResultCode?
    private(set) var fault: Diagnostic?

    /// What the job says for all.
    private(set) var wishes = Wishes()
    var chunk: ChunkBuilder
    /// What is wrong with the delivery for all, told when the first comes who gets it.
    private var sharedFaults: [Fault] = []
    private var firstRejection: Diagnostic?
    /// How many tokens are too short for any device's, and what is said of the first.
    private var shortTokens = (count: 0, first: Diagnostic?.none)

    init(_ context: JobContext) {
        self.context = context
        let header = JobHeader(context)
        self.header = header
        self.chunk = ChunkBuilder(job: context.job, onDoubt: header.onDoubt, giveUpAt: header.giveUpAt)
    }

    /// Takes what the job says for all; before the first recipient.
    mutating func adopt(_ outline: JobOutline) {
        (header, wishes) = (outline.header, outline.wishes)
        (chunk.onDoubt, chunk.giveUpAt, chunk.lane) = (header.onDoubt, header.giveUpAt, header.lane)
        for fault in outline.findings.faults { fail(.invalid, fault.diagnostic) }
        warn(outline.findings)
        report.count(errors: outline.findings.unworded.faults, warnings: 0)
        guard let payload = wishes.compiledPayload, let node = outline.wishNode else {
            if failure != nil { chunk.shared = placeholder }
            return
        }
        let attributes = wishes.attributes(for: payload.facts, from: header.earliest)
        chunk.shared = Delivery(attributes: attributes, payload: payload.payload)
        var findings = Findings(at: outline.wishBase, room: Report.capacity)
        check(payload, attributes, at: node, &findings)
        sharedFaults = findings.faults
        for warning in findings.warnings { report.add(warning) }
    }

    /// What stands in for a delivery in a job that fails anyway, so that the rest of its faults can be found.
    private var placeholder: Delivery {
        Delivery(attributes: wishes.attributes(for: [.aps], from: header.earliest), payload: Payload(bytes: []))
    }

    /// Notes a fault of the document: nothing of the job will be sent.
    mutating func fail(_ code: ResultCode, _ diagnostic: Diagnostic) {
        report.add(diagnostic)
        guard failure == nil else { return }
        (failure, fault) = (code, diagnostic)
    }

    /// How many findings of a recipient are to be put into words: those that the report keeps, and the first that a strict
    /// job fails for.
    var room: Int { max(report.room, firstRejection == nil ? 1 : 0) }

    /// Notes what does not keep a recipient from being sent to.
    mutating func warn(_ findings: Findings) {
        for warning in findings.warnings { report.add(warning) }
        report.count(errors: 0, warnings: findings.unworded.warnings)
    }

    /// Tells what is wrong with the delivery for all, once: somebody gets it.
    mutating func useShared() {
        guard !sharedFaults.isEmpty else { return }
        for fault in sharedFaults { fail(.invalid, fault.diagnostic) }
        sharedFaults = []
        // One that is too long is not copied for each recipient.
        chunk.shared = placeholder
    }

    /// Adds a recipient that cannot be sent to; there is at least one fault.
    mutating func reject(_ findings: Findings, token: DeviceToken?) {
        guard let reason = findings.firstReason else { return }
        for fault in findings.faults { report.add(fault.diagnostic) }
        report.count(errors: findings.unworded.faults, warnings: 0)
        rejectedCount += 1
        firstRejection = firstRejection ?? findings.faults.first?.diagnostic
        chunk.reject(reason, token: token)
    }

    /// How many bytes a device's token has at least. Apple's have 32, and may have another length (Apple, "Registering your app
    /// with APNs"); of more than `DeviceToken.maximumByteCount` none is sent.
    private static let leastLength = 8

    /// Notes how many bytes a token has: of those that are too short there is one warning in all.
    mutating func noteLength(_ byteCount: Int, _ node: @autoclosure () -> Node, _ path: @autoclosure () -> String) {
        guard byteCount < Self.leastLength else { return }
        shortTokens.count += 1
        guard shortTokens.first == nil else { return }
        let hint = "Apple's have 32; pass tokens on as the devices gave them"
        let message = "the token has \(byteCount) byte\(byteCount == 1 ? "" : "s")"
        shortTokens.first = Diagnostic(message, hint: hint, at: node().place, severity: .warning).about(path())
    }

    /// Judges the whole once all recipients are in.
    mutating func finish() {
        if var warning = shortTokens.first {
            let count = shortTokens.count - 1
            if count > 0 { warning.message += ", and \(count) more \(count == 1 ? "is" : "are") as short" }
            report.add(warning)
        }
        if let count = header.count, count != chunk.count {
            let message = "the job promises \(count) recipients and has \(chunk.count)"
            fail(.incomplete, Diagnostic(message, hint: "correct `count`, or write the whole file").about("count"))
        }
        if header.isStrict, let firstRejection, failure == nil {
            (failure, fault) = (.invalid, firstRejection)
        }
    }

    /// Adds the rules that a delivery breaks to the findings.
    func check(_ payload: CompiledPayload, _ attributes: Attributes, at node: Node, _ findings: inout Findings) {
        var breaches = DeliveryRules.breaches(of: payload, attributes, in: context)
        if let notBefore = header.notBefore, attributes.expiration.hasPassed(at: notBefore) {
            breaches.append(DeliveryRules.tooLate(at: notBefore))
        }
        for breach in breaches {
            let culprit = findings.base.isPayload ? nil : node[breach.key.rawValue]
            let place = culprit ?? node
            let key = culprit == nil ? "" : breach.key.rawValue
            if breach.isWarning {
                findings.warn(Diagnostic(breach.message, hint: breach.hint, at: place.place), about: key)
            } else {
                let (message, hint) = (breach.message, breach.hint)
                findings.add(breach.reason, Diagnostic(message, hint: hint, at: place.place), about: key)
            }
        }
    }
}
