import APNSModel
import Document
import FCMModel
import PushModel

/// Compiles recipients into chunks, one after another, and collects their faults.
struct RecipientCompiler: Sendable {
    let context: JobContext
    private(set) var header: JobHeader
    private(set) var report = Report()
    private(set) var rejectedCount = 0
    private(set) var failure: ResultCode?
    private(set) var fault: Diagnostic?
    /// The reason of the fault, if a recipient could have it.
    private(set) var faultReason: FaultReason?

    /// The job's settings for all recipients.
    private(set) var overrides = Overrides()
    var chunk: ChunkBuilder
    /// The channel of a broadcast.
    private(set) var channel: BroadcastChannel?
    /// The address of the one notification that reaches many devices.
    private(set) var audience: Address?
    /// Faults of the shared delivery, reported when the first recipient uses it.
    private var sharedFaults: [Fault] = []
    private var firstRejection: Diagnostic?
    var collapseKeys = CollapseKeyCount()
    /// How many tokens look unusual, and the warning about the first.
    private var oddTokens = (count: 0, first: Diagnostic?.none)

    init(_ context: JobContext) {
        self.context = context
        let header = JobHeader(context)
        self.header = header
        self.chunk = ChunkBuilder(
            job: context.job, of: context.carrier == .fcm ? .registrationToken : .deviceToken, onDoubt: header.onDoubt,
            giveUpAt: header.giveUpAt)
    }

    /// Takes the job's settings. Call it before the first recipient.
    mutating func adopt(_ outline: JobOutline) {
        (header, overrides, channel, audience) = (outline.header, outline.overrides, outline.channel, outline.audience)
        (chunk.onDoubt, chunk.giveUpAt, chunk.lane) = (header.onDoubt, header.giveUpAt, header.lane)
        chunk.recordsAll = header.record == .all
        if let id = outline.id { chunk.note(id: id) }
        fail(with: outline.findings.faults)
        warn(outline.findings)
        report.count(errors: outline.findings.unworded.faults, warnings: 0)
        var findings = Findings(at: outline.overridesBase, room: Report.capacity)
        guard let node = outline.overridesNode,
            let shared = delivery(of: overrides, to: audience?.kind ?? tokenKind, at: node, &findings)
        else {
            if failure != nil { chunk.shared = placeholder }
            return
        }
        chunk.shared = shared
        sharedFaults = findings.faults
        for warning in findings.warnings { report.add(warning) }
    }

    /// A substitute delivery for a job that fails anyway, so that its other faults can still be found.
    private var placeholder: Delivery {
        Delivery(attributes: overrides.attributes(for: [.aps], from: header.earliest), payload: Payload(bytes: []))
    }

    /// Records a fault of the document, which prevents the whole job from being sent.
    mutating func fail(_ code: ResultCode, _ diagnostic: Diagnostic) {
        report.add(diagnostic)
        guard failure == nil else { return }
        (failure, fault) = (code, diagnostic)
    }

    private mutating func fail(with faults: [Fault]) {
        if failure == nil { faultReason = faults.first?.reason }
        for fault in faults { fail(.invalid, fault.diagnostic) }
    }

    /// How many findings of a recipient get a message: the report's room, and at least one for a strict job to fail with.
    var room: Int { max(report.room, firstRejection == nil ? 1 : 0) }

    /// Records warnings, which do not prevent a recipient from being sent to.
    mutating func warn(_ findings: Findings) {
        for warning in findings.warnings { report.add(warning) }
        report.count(errors: 0, warnings: findings.unworded.warnings)
    }

    /// Whether there is a delivery for all recipients, without a fault that is still to be reported.
    var hasPlainDelivery: Bool { chunk.shared != nil && sharedFaults.isEmpty }

    /// Reports the faults of the shared delivery, once, because a recipient uses it.
    mutating func useShared() {
        guard !sharedFaults.isEmpty else { return }
        fail(with: sharedFaults)
        sharedFaults = []
        // The substitute avoids copying an overlong payload for each recipient.
        chunk.shared = placeholder
    }

    /// Adds a rejected recipient; the findings must contain at least one fault.
    mutating func reject(_ findings: Findings, address: Address?) {
        guard let reason = findings.firstReason else { return }
        for fault in findings.faults { report.add(fault.diagnostic) }
        report.count(errors: findings.unworded.faults, warnings: 0)
        rejectedCount += 1
        firstRejection = firstRejection ?? findings.faults.first?.diagnostic
        chunk.reject(reason.refusal(by: context.carrier), address: address)
    }

    /// The lengths of plausible tokens in bytes: those of devices have 32, those of Live Activities 64 and more. The length may
    /// change (Apple, "Registering your app with APNs"), so others only get a warning. Tokens longer than
    /// `DeviceToken.maximumByteCount` are rejected.
    private static func isPlausible(_ byteCount: Int) -> Bool { byteCount == 32 || byteCount >= 64 }

    /// What a bare token is in a job for the carrier.
    var tokenKind: Address.Kind { chunk.tokenKind }

    /// Notes a token of FCM's that may be one of Apple's. All such tokens share one warning.
    mutating func noteLikeness(
        _ token: ArraySlice<UInt8>, _ node: @autoclosure () -> Node, _ path: @autoclosure () -> String
    ) {
        guard AddressRule.isLikeDeviceToken(token.span) else { return }
        oddTokens.count += 1
        guard oddTokens.first == nil else { return }
        let hint = "drop jobs for Apple's devices into an app with protocol: http2"
        oddTokens.first = Diagnostic(
            "the token looks like an APNs token: 64 hexadecimal digits", hint: hint, at: node().place,
            severity: .warning
        ).about(path())
    }

    /// Records the length of a token. All tokens of an unusual length share one warning.
    mutating func noteLength(_ byteCount: Int, _ node: @autoclosure () -> Node, _ path: @autoclosure () -> String) {
        guard !Self.isPlausible(byteCount) else { return }
        oddTokens.count += 1
        guard oddTokens.first == nil else { return }
        let hint = "Apple's tokens have 32, or 64 and more; pass tokens exactly as devices send them"
        let only = byteCount < 32 ? "only " : ""
        let message = "the token has \(only)\(byteCount) byte\(byteCount == 1 ? "" : "s")"
        oddTokens.first = Diagnostic(message, hint: hint, at: node().place, severity: .warning).about(path())
    }

    /// Judges the job as a whole, after the last recipient.
    mutating func finish() {
        if var warning = oddTokens.first {
            let count = oddTokens.count - 1
            let likeness =
                context.carrier == .fcm
                ? count == 1 ? "does" : "do" : "\(count == 1 ? "has" : "have") an unusual length"
            if count > 0 { warning.message += ", and \(count) more \(likeness)" }
            report.add(warning)
        }
        if let count = header.count, count != chunk.count {
            let message = "is \(count), but the job has \(chunk.count) recipients"
            fail(.incomplete, Diagnostic(message, hint: "correct `count`, or write the complete file").about("count"))
        }
        if header.isStrict, let firstRejection, failure == nil {
            (failure, fault) = (.invalid, firstRejection)
        }
    }

    /// Compiles the delivery that settings specify for an address of this kind, and adds the rules that it breaks to the
    /// findings.
    ///
    /// - Returns: `nil` if the settings specify no payload.
    func delivery(
        of overrides: Overrides, to kind: Address.Kind, at node: Node, _ findings: inout Findings
    ) -> Delivery? {
        if case .message(let source) = overrides.payload {
            let message = MessageDelivery(source, overrides, from: header.earliest)
            var attributes = Attributes(expiration: message.expiration)
            attributes.addressKind = kind
            add(message.violations(to: kind), attributes, at: node, &findings)
            return Delivery(attributes: attributes, payload: Payload(bytes: message.bytes))
        }
        guard let payload = overrides.compiledPayload else { return nil }
        let attributes =
            channel == nil
            ? overrides.attributes(for: payload.facts, from: header.earliest) : overrides.broadcastAttributes
        let violations = DeliveryRules.violations(of: payload, attributes, to: channel, in: context)
        add(violations, attributes, at: node, &findings)
        return Delivery(attributes: attributes, payload: payload.payload)
    }

    private func add(
        _ broken: [DeliveryRules.Violation], _ attributes: Attributes, at node: Node, _ findings: inout Findings
    ) {
        var violations = broken
        if let notBefore = header.notBefore, attributes.expiration.hasPassed(at: notBefore) {
            violations.append(DeliveryRules.tooLate(at: notBefore))
        }
        for violation in violations {
            if let member = violation.member {
                findings.warn(
                    whole: Diagnostic(violation.message, hint: violation.hint, at: member.place).about(member.path))
                continue
            }
            let culprit = findings.base.isPayload ? nil : node[violation.key.rawValue]
            let place = culprit ?? node
            let key = culprit == nil ? "" : violation.key.rawValue
            if violation.isWarning {
                findings.warn(Diagnostic(violation.message, hint: violation.hint, at: place.place), about: key)
            } else {
                let (message, hint) = (violation.message, violation.hint)
                findings.add(violation.reason, Diagnostic(message, hint: hint, at: place.place), about: key)
            }
        }
    }
}
