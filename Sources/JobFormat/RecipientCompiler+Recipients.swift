import APNSModel
import Document
import PushModel

extension RecipientCompiler {
    /// Adds a recipient that is only a token: the common path. `key` is the token's own key, if it has one.
    mutating func add(tokenAt index: Int, on tape: Tape, base: PathBase, key: String = "") {
        guard chunk.shared != nil else { return rejectPayloadless(Node(tape: tape, index: index), base) }
        useShared()
        let event = tape.events[index]
        guard event.kind == .string || event.kind == .plain else {
            var findings = Findings(at: base, room: room)
            findings.expected("a string", Node(tape: tape, index: index), reason: .badDeviceToken, about: key)
            return reject(findings, address: nil)
        }
        let spelling = event.isInArena ? tape.arena[event.textRange] : tape.source[event.textRange]
        guard let fault = chunk.append(token: spelling) else {
            return noteLength(chunk.lastTokenByteCount, Node(tape: tape, index: index), base.path(of: key))
        }
        var findings = Findings(at: base, room: room)
        findings.add(.badDeviceToken, diagnostic(for: fault, at: Node(tape: tape, index: index)), about: key)
        reject(findings, address: nil)
    }

    /// Adds the one notification of a broadcast. The fault of its channel, if it has one, is the document's.
    mutating func addBroadcast(at node: Node) {
        guard let shared = chunk.shared else { return rejectPayloadless(node, .root) }
        useShared()
        chunk.append(chunk.shared ?? shared, token: Array((channel?.id.text ?? "").utf8))
    }

    /// Adds a recipient that is a mapping.
    mutating func add(recipient node: Node, base: PathBase) {
        guard node.kind == .mapping else {
            var findings = Findings(at: base, room: room)
            findings.expected("\(node.mappingName) with a token", node, reason: .badValue, about: "")
            return reject(findings, address: nil)
        }
        var reader = OverridesReader(context, at: base, room: room)
        var token: Node?
        for member in node.members { read(member, &reader, &token) }
        reader.finish()
        if let registration = reader.registeredAt { chunk.note(registeredAt: registration) }
        if let id = reader.id { chunk.note(id: id) }
        guard let token else {
            let hint = "give each recipient a `token`"
            reader.add(.missingDeviceToken, Diagnostic("the token is missing", hint: hint, at: node.place), about: "")
            return reject(reader.findings, address: nil)
        }
        add(token, reader.overrides, reader.findings, at: node)
    }

    /// Adds a token with its own payload, the `index`th of two lists.
    mutating func add(token: Node, payload node: Node, index: Int) {
        var tokenFindings = Findings(at: .element(of: JobKey.tokens.rawValue, at: index), room: room)
        let bytes = decode(token, key: "", &tokenFindings)
        var findings = Findings(at: .element(of: JobKey.payloads.rawValue, at: index), room: room)
        let compiled = OverridesReader.compile(node, path: findings.base.path(of: ""), context, &findings)
        let attributes = overrides.attributes(for: compiled?.facts ?? [], from: header.earliest)
        if let compiled { check(compiled, attributes, at: node, &findings) }
        tokenFindings.add(contentsOf: findings)
        if let bytes { noteLength(bytes.count, token, tokenFindings.base.path(of: "")) }
        guard let compiled else { return reject(tokenFindings, address: address(bytes)) }
        settle(tokenFindings, Delivery(attributes: attributes, payload: compiled.payload), bytes)
    }

    /// The most bytes of merged shorthands from the job and a recipient. Larger payloads are rejected without being compiled.
    private static let largestMerged = 16 << 10

    private func read(_ member: Member, _ reader: inout OverridesReader, _ token: inout Node?) {
        guard let key = JobKey(rawValue: member.key.text), JobScope.recipient.allows(key) else {
            return reader.add(.badValue, JobScope.recipient.refusal(of: member.key), about: "")
        }
        if member.value.isNull { return }
        switch key.part {
        case .recipients: token = member.value
        case .delivery: reader.read(key, member)
        case .recipient: reader.readRecipient(key, member.value)
        case .job: break
        }
    }

    private mutating func add(_ token: Node, _ own: Overrides, _ found: Findings, at node: Node) {
        var findings = found
        if findings.isFaultless, own == Overrides() {
            warn(findings)
            return add(tokenAt: token.index, on: token.tape, base: findings.base, key: JobKey.token.rawValue)
        }
        let bytes = decode(token, key: JobKey.token.rawValue, &findings)
        if let bytes { noteLength(bytes.count, token, findings.base.path(of: JobKey.token.rawValue)) }
        if own.clashes(with: overrides) {
            let hint = "use shorthands instead of `payload` in the job, or give this recipient a `payload`"
            let message = "shorthands cannot change the job's `payload`"
            findings.add(.badPayload, Diagnostic(message, hint: hint, at: node.place), about: "")
        }
        let merged = overrides.overlaid(by: own)
        if case .parts(let parts) = merged.payload, parts.byteCount > Self.largestMerged {
            let message = "the payload has more than \(parts.byteCount) bytes, which no gateway accepts"
            findings.add(.payloadTooLarge, Diagnostic(message, hint: "shorten it", at: node.place), about: "")
            return reject(findings, address: address(bytes))
        }
        guard let payload = merged.compiledPayload else {
            if findings.isFaultless, failure == nil { return rejectPayloadless(node, findings.base) }
            return findings.isFaultless ? chunkPlaceholder(bytes) : reject(findings, address: address(bytes))
        }
        let attributes = merged.attributes(for: payload.facts, from: header.earliest)
        check(payload, attributes, at: node, &findings)
        settle(findings, Delivery(attributes: attributes, payload: payload.payload), bytes)
    }

    /// Adds a recipient of a job that fails anyway, only to keep the count.
    private mutating func chunkPlaceholder(_ token: [UInt8]?) {
        guard let shared = chunk.shared, let token else { return }
        chunk.append(shared, token: token)
    }

    private mutating func settle(_ findings: Findings, _ delivery: Delivery, _ token: [UInt8]?) {
        warn(findings)
        if let token, findings.isFaultless {
            chunk.append(delivery, token: token)
        } else {
            reject(findings, address: address(token))
        }
    }

    private func address(_ token: [UInt8]?) -> Address? {
        token.map { Address(DeviceToken(bytes: $0)) }
    }

    /// Rejects a recipient whose text, or whose token or payload, exceeds the limit for a valid recipient.
    mutating func rejectTooLong(_ node: Node, _ base: PathBase) {
        var findings = Findings(at: base, room: room)
        let message = "has \(node.rawRange.count) bytes in the file; the limit is \(JobChunk.byteLimit)"
        findings.add(.badValue, Diagnostic(message, hint: "shorten it", at: node.place), about: "")
        reject(findings, address: nil)
    }

    private mutating func rejectPayloadless(_ node: Node, _ base: PathBase) {
        var findings = Findings(at: base, room: room)
        let hint = "give it a `payload`, or set one for all recipients"
        findings.add(.payloadEmpty, Diagnostic("the payload is missing", hint: hint, at: node.place), about: "")
        reject(findings, address: nil)
    }

    private func decode(_ node: Node, key: String, _ findings: inout Findings) -> [UInt8]? {
        guard node.kind == .string || node.kind == .plain else {
            findings.expected("a string", node, reason: .badDeviceToken, about: key)
            return nil
        }
        var bytes: [UInt8] = []
        guard case .failure(let fault) = TokenSpelling.append(node.bytes.span, to: &bytes) else { return bytes }
        findings.add(.badDeviceToken, diagnostic(for: fault, at: node), about: key)
        return nil
    }

    /// Describes the fault of a token without quoting the token.
    private func diagnostic(for fault: TokenSpelling.Fault, at node: Node) -> Diagnostic {
        var hint = "pass the token exactly as the device sent it"
        let message: String
        switch fault {
        case .empty: message = "the token is empty"
        case .oddDigitCount(let count): message = "the token has \(count) hexadecimal digits, an odd number"
        case .stray(let scalar, let place):
            message = "the token is hexadecimal, but its character \(place) is \(FieldText.name(of: scalar))"
            if place == 2, scalar == "x" || scalar == "X" { hint = "remove 0x" }
        case .unreadable: message = "the token is neither hexadecimal nor base64"
        case .tooLong(let count):
            message = "the token has \(count) bytes; the limit is \(DeviceToken.maximumByteCount)"
        }
        return Diagnostic(message, hint: hint, at: node.place)
    }
}
