import APNSModel
import Document
import FCMModel
import PushModel

extension RecipientCompiler {
    /// Adds recipients whose lines have a form and addresses without any peculiarity, without parsing them: up to the first
    /// other line, or until the chunk is full.
    ///
    /// - Returns: The number of lines, which are passed.
    mutating func add(linesOf form: inout UsualLine, from lines: inout LineBuffer) -> Int {
        guard hasPlainDelivery, chunk.takesMore(of: tokenKind) else { return 0 }
        var count = 0
        while !chunk.isFull {
            let unread = lines.unread
            guard let (address, end) = form.next(in: unread, of: lines.bytes.span),
                add(usual: address, of: lines.bytes)
            else { break }
            chunk.note(byteCount: end - 1 - unread.lowerBound)
            lines.skip(to: end)
            count += 1
        }
        return count
    }

    /// Whether addresses of this length can be usual.
    func isUsual(byteCount: Int) -> Bool { tokenKind != .deviceToken || byteCount == TokenSpelling.usualDigitCount }

    private mutating func add(usual address: Range<Int>, of bytes: [UInt8]) -> Bool {
        let text = bytes.span.extracting(address)
        guard let rule = tokenKind.rule else { return chunk.append(digits: text) }
        guard rule.fault(of: text) == nil, !AddressRule.isLikeDeviceToken(text) else { return false }
        chunk.append(bytes[address], of: tokenKind)
        return true
    }

    /// Adds a recipient that is only an address: the common path.
    mutating func add(_ place: AddressPlace, at index: Int, on tape: Tape) {
        guard chunk.shared != nil else { return rejectPayloadless(Node(tape: tape, index: index), place.base) }
        useShared()
        let event = tape.events[index]
        guard event.kind == .string || event.kind == .plain else {
            var findings = Findings(at: place.base, room: room)
            findings.expected("a string", Node(tape: tape, index: index), reason: .badDeviceToken, about: place.key)
            return reject(findings, address: nil)
        }
        let spelling = event.isInArena ? tape.arena[event.textRange] : tape.source[event.textRange]
        if let rule = place.kind.rule {
            guard let fault = rule.fault(of: spelling.span) else {
                chunk.append(spelling, of: place.kind)
                return noteLikeness(spelling, Node(tape: tape, index: index), place.path)
            }
            return reject(rule.diagnostic(for: fault, at: Node(tape: tape, index: index)), place)
        }
        guard let fault = chunk.append(token: spelling) else {
            return noteLength(chunk.lastTokenByteCount, Node(tape: tape, index: index), place.path)
        }
        reject(Self.diagnostic(for: fault, at: Node(tape: tape, index: index)), place)
    }

    private mutating func reject(_ diagnostic: @autoclosure () -> Diagnostic, _ place: AddressPlace) {
        var findings = Findings(at: place.base, room: room)
        findings.add(.badDeviceToken, diagnostic(), about: place.key)
        reject(findings, address: nil)
    }

    /// Adds the one notification for all who have subscribed to something. The fault of its address, if it has one, is the
    /// document's.
    mutating func addBroadcast(at node: Node) {
        guard let shared = chunk.shared else { return rejectPayloadless(node, .root) }
        useShared()
        chunk.append(chunk.shared ?? shared, address: audience?.bytes ?? [])
    }

    /// Adds a recipient that is a mapping.
    mutating func add(recipient node: Node, base: PathBase) {
        guard node.kind == .mapping else {
            var findings = Findings(at: base, room: room)
            findings.expected("\(node.mappingName) with a token", node, reason: .badValue, about: "")
            return reject(findings, address: nil)
        }
        var reader = OverridesReader(context, at: base, room: room)
        var address: RecipientAddress?
        for member in node.members { read(member, &reader, &address) }
        reader.finish()
        if let registration = reader.registeredAt { chunk.note(registeredAt: registration) }
        if let id = reader.id { chunk.note(id: id) }
        guard let address else {
            let hint = "give each recipient a `token`\(context.carrier == .fcm ? " or a `fid`" : "")"
            reader.add(.missingDeviceToken, Diagnostic("the token is missing", hint: hint, at: node.place), about: "")
            return reject(reader.findings, address: nil)
        }
        add(address, reader.overrides, reader.findings, at: node)
    }

    /// Adds a token with its own payload, the `index`th of two lists.
    mutating func add(token node: Node, payload payloadNode: Node, index: Int) {
        var tokenFindings = Findings(at: .element(of: JobKey.tokens.rawValue, at: index), room: room)
        let bytes = decode(RecipientAddress(node, .token, tokenKind), key: "", &tokenFindings)
        var findings = Findings(at: .element(of: JobKey.payloads.rawValue, at: index), room: room)
        var own = overrides
        let payload = OverridesReader.payload(payloadNode, path: findings.base.path(of: ""), context, &findings)
        own.payload = payload ?? .none
        let delivery = delivery(of: own, to: tokenKind, at: payloadNode, &findings)
        tokenFindings.add(contentsOf: findings)
        guard let delivery else { return reject(tokenFindings, address: self.address(bytes, tokenKind)) }
        settle(tokenFindings, delivery, bytes)
    }

    /// The most bytes of merged shorthands or members from the job and a recipient. Larger payloads are rejected without being
    /// compiled.
    private static let largestMerged = 16 << 10

    private func read(_ member: Member, _ reader: inout OverridesReader, _ address: inout RecipientAddress?) {
        guard let (key, part) = JobScope.recipient.key(member.key.text, for: context.carrier) else {
            return reader.add(.badValue, JobScope.recipient.refusal(of: member.key, for: context.carrier), about: "")
        }
        if member.value.isNull { return }
        switch part {
        case .recipients:
            if address != nil {
                let message = "`token` and `fid` cannot be combined"
                reader.add(.badValue, Diagnostic(message, hint: "remove one", at: member.key.place), about: "")
            }
            address = RecipientAddress(member.value, key, key == .fid ? .installation : tokenKind)
        case .delivery: reader.read(key, member)
        case .recipient: reader.readRecipient(key, member.value)
        case .job: break
        }
    }

    private mutating func add(_ to: RecipientAddress, _ own: Overrides, _ found: Findings, at node: Node) {
        var findings = found
        if findings.isFaultless, own == Overrides() {
            warn(findings)
            let place = AddressPlace(to.kind, findings.base, key: to.key.rawValue)
            return add(place, at: to.node.index, on: to.node.tape)
        }
        let bytes = decode(to, key: to.key.rawValue, &findings)
        if let (message, hint) = own.clash(with: overrides) {
            findings.add(.badPayload, Diagnostic(message, hint: hint, at: node.place), about: "")
        }
        let merged = overrides.overlaid(by: own)
        if merged.partsByteCount > Self.largestMerged {
            let message = "the payload has more than \(merged.partsByteCount) bytes, which no gateway accepts"
            findings.add(.payloadTooLarge, Diagnostic(message, hint: "shorten it", at: node.place), about: "")
            return reject(findings, address: address(bytes, to.kind))
        }
        guard let delivery = delivery(of: merged, to: to.kind, at: node, &findings) else {
            if findings.isFaultless, failure == nil { return rejectPayloadless(node, findings.base) }
            return findings.isFaultless ? chunkPlaceholder(bytes) : reject(findings, address: address(bytes, to.kind))
        }
        if let key = own.collapseID, let bytes { warnOfCollapseKeys(key, bytes, at: node, &findings) }
        settle(findings, delivery, bytes)
    }

    /// Warns once if FCM will drop messages to an address because the job has too many collapse keys for it.
    private mutating func warnOfCollapseKeys(
        _ key: String, _ address: [UInt8], at node: Node, _ findings: inout Findings
    ) {
        guard context.carrier == .fcm, collapseKeys.isOneTooMany(key, for: address) else { return }
        let message = "the job has more than \(CollapseKeyCount.limit) different ones for this address"
        let hint = "use fewer: FCM stores messages of any \(CollapseKeyCount.limit) for a device that is offline"
        findings.warn(Diagnostic(message, hint: hint, at: node.place), about: JobKey.collapseID.rawValue)
    }

    /// Adds a recipient of a job that fails anyway, only to keep the count.
    private mutating func chunkPlaceholder(_ address: [UInt8]?) {
        guard let shared = chunk.shared, let address else { return }
        chunk.append(shared, address: address)
    }

    private mutating func settle(_ findings: Findings, _ delivery: Delivery, _ address: [UInt8]?) {
        warn(findings)
        if let address, findings.isFaultless {
            chunk.append(delivery, address: address)
        } else {
            reject(findings, address: self.address(address, delivery.attributes.addressKind))
        }
    }

    private func address(_ bytes: [UInt8]?, _ kind: Address.Kind) -> Address? {
        bytes.map { Address(kind, $0[...]) }
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

    /// Returns the bytes of an address, and notes whether it looks unusual; `nil` if it has a fault.
    private mutating func decode(_ address: RecipientAddress, key: String, _ findings: inout Findings) -> [UInt8]? {
        let node = address.node
        guard node.kind == .string || node.kind == .plain else {
            findings.expected("a string", node, reason: .badDeviceToken, about: key)
            return nil
        }
        let path = findings.base.path(of: key)
        if let rule = address.kind.rule {
            guard let fault = rule.fault(of: node.bytes.span) else {
                noteLikeness(node.bytes, node, path)
                return Array(node.bytes)
            }
            findings.add(.badDeviceToken, rule.diagnostic(for: fault, at: node), about: key)
            return nil
        }
        var bytes: [UInt8] = []
        guard case .failure(let fault) = TokenSpelling.append(node.bytes.span, to: &bytes) else {
            noteLength(bytes.count, node, path)
            return bytes
        }
        findings.add(.badDeviceToken, Self.diagnostic(for: fault, at: node), about: key)
        return nil
    }

    /// Describes the fault of a token without quoting the token.
    private static func diagnostic(for fault: TokenSpelling.Fault, at node: Node) -> Diagnostic {
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
