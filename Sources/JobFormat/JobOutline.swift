import APNSModel
package import Document
import FCMModel
import PushModel

/// The parts of a job other than its recipients.
struct JobOutline: Sendable {
    /// The form of a document's recipients, with their places on the tape.
    enum Form: Hashable, Sendable {
        /// `token` or `fid`.
        case single(Int, JobKey)
        /// `tokens`, `fids`, or first the one and then the other.
        case lists([AddressList])
        /// `tokens` with `payloads`.
        case paired(tokens: Int, payloads: Int)
        /// `recipients`.
        case recipients(Int)
        /// `channel`, `topic` or `condition`.
        case broadcast(Int)
    }

    /// A list of addresses, with its place on the tape.
    struct AddressList: Hashable, Sendable {
        let place: Int
        let key: JobKey
    }

    private(set) var header: JobHeader
    private(set) var overrides = Overrides()
    /// The channel of a broadcast.
    private(set) var channel: BroadcastChannel?
    /// The address of a document's one notification that reaches many devices.
    private(set) var audience: Address?
    /// The `apns-id` of a document's one recipient or broadcast.
    private(set) var id: NotificationID?
    /// Whether the payload is missing only because it was faulty.
    private var isPayloadFaulty = false
    private(set) var form: Form?
    /// These are faults of the document.
    private(set) var findings = Findings(at: .root, room: Report.capacity)
    /// The mapping that contains the overrides.
    private(set) var overridesNode: Node?
    private(set) var overridesBase = PathBase.root

    /// The keys about recipients, with their values, each once. A list, because there is hardly ever more than one.
    private var recipientKeys: [(key: JobKey, node: Node)] = []

    private func value(of key: JobKey) -> Node? { recipientKeys.first { $0.key == key }?.node }

    /// Creates the outline of a `.jsonl` file without a first line of its own: all defaults.
    init(_ context: JobContext) {
        header = JobHeader(context)
    }

    /// Reads the top level of a document.
    init(document root: Node, _ context: JobContext) {
        header = JobHeader(context)
        if root.kind == .mapping {
            read(root, .document, base: .root, context)
            settleForm(root, context)
        } else {
            findings.expected(root.mappingName, root, reason: .badValue, about: "")
        }
    }

    /// Reads the first line of a `.jsonl` file; `nil` if it does not describe the job.
    init?(firstLine root: Node, _ context: JobContext) {
        guard root.describesJob else { return nil }
        header = JobHeader(context)
        for member in root.members {
            switch member.key.text {
            case "job": readSection(member.value, .jobOfLines, "job", context)
            case "defaults": readSection(member.value, .defaultsOfLines, "defaults", context)
            default:
                let message = "the key \(Diagnostic.quoted(member.key.text)) is unknown in the first line"
                let hint = "use `job` and `defaults` there; recipients go on the lines below"
                findings.add(.badValue, Diagnostic(message, hint: hint, at: member.key.place), about: "")
            }
        }
    }

    private mutating func readSection(_ node: Node, _ scope: JobScope, _ name: String, _ context: JobContext) {
        if node.isNull { return }
        guard node.kind == .mapping else {
            return findings.expected(node.mappingName, node, reason: .badValue, about: name)
        }
        read(node, scope, base: .member(name), context)
    }

    private mutating func read(_ node: Node, _ scope: JobScope, base: PathBase, _ context: JobContext) {
        var reader = OverridesReader(context, at: base, room: Report.capacity)
        for member in node.members {
            guard let (key, part) = scope.key(member.key.text, for: context.carrier) else {
                reader.add(.badValue, scope.refusal(of: member.key, for: context.carrier), about: "")
                continue
            }
            if member.value.isNull { continue }
            switch part {
            case .job: header.read(key, member.value, &reader.findings)
            case .delivery: reader.read(key, member)
            case .recipients: recipientKeys.append((key, member.value))
            case .recipient:
                reader.readRecipient(key, member.value)
                recipientKeys.append((key, member.key))
            }
        }
        reader.finish()
        id = reader.id
        findings.add(contentsOf: reader.findings)
        guard scope != .jobOfLines else { return }
        (overrides, overridesNode, overridesBase) = (reader.overrides, node, base)
        isPayloadFaulty = !reader.findings.reasons.isDisjoint(with: [.badPayload, .payloadEmpty])
    }

    /// Determines the form of the document, which must be exactly one.
    private mutating func settleForm(_ root: Node, _ context: JobContext) {
        var given = JobKey.recipientForms.filter { value(of: $0) != nil }
        // An empty list beside the other kind is as good as none.
        if given == [.tokens, .fids], let one = given.first(where: isEmptyList), !given.allSatisfy(isEmptyList) {
            given.removeAll { $0 == one }
        }
        guard let key = given.first, let node = value(of: key) else {
            let hint =
                context.carrier == .fcm
                ? "add `token`, `tokens`, `fid`, `fids` or `recipients`, or `topic` or `condition`"
                : "add `token`, `tokens` or `recipients`, or `channel` for a broadcast"
            return findings.add(.badValue, Diagnostic("no recipients", hint: hint, at: root.place), about: "")
        }
        guard given.count == 1 || given == [.tokens, .fids] else { return refuseCombination(of: given) }
        let payloads = value(of: .payloads)
        if let payloads, given != [.tokens] {
            let diagnostic = Diagnostic("is allowed only with `tokens`", hint: "use `tokens`", at: payloads.place)
            findings.add(.badValue, diagnostic, about: JobKey.payloads.rawValue)
        }
        if let idKey = value(of: .apnsID), key != .token, key != .channel {
            let hint = "give each of the `recipients` its own"
            let message = "is allowed here only with `token` or `channel`"
            let diagnostic = Diagnostic(message, hint: hint, at: idKey.place)
            findings.add(.badValue, diagnostic, about: JobKey.apnsID.rawValue)
        }
        switch key {
        case .token, .fid: form = .single(node.index, key)
        case .channel: settleChannel(node, context)
        case .topic, .condition: settleAudience(key, node, root)
        case .recipients: if isList(node, key) { form = .recipients(node.index) }
        default: settleLists(given, payloads)
        }
        if payloads == nil, key != .recipients { requirePayload(root) }
    }

    private func isEmptyList(_ key: JobKey) -> Bool {
        value(of: key).map { $0.kind == .sequence && $0.count == 0 } ?? false
    }

    private mutating func refuseCombination(of given: [JobKey]) {
        let names = given.map { "`\($0.rawValue)`" }.joined(separator: " and ")
        let place = given.compactMap { value(of: $0)?.place }.max()
        let hint: String? =
            given.contains(.topic)
            ? "an FCM topic is itself the recipient; an APNs topic belongs to an APNs app" : nil
        findings.add(.badValue, Diagnostic("\(names) cannot be combined", hint: hint, at: place), about: "")
    }

    private mutating func settleChannel(_ node: Node, _ context: JobContext) {
        channel = channel(node, context)
        if let channel {
            (form, audience) = (.broadcast(node.index), Address(channel.id))
        } else {
            // It is checked as what it is meant to be.
            overrides.pushType = overrides.pushType ?? .liveactivity
        }
    }

    /// Reads a topic or condition. A repetition would reach everybody twice, so it is not resent in doubt unless the job says so.
    private mutating func settleAudience(_ key: JobKey, _ node: Node, _ root: Node) {
        if root[JobKey.onDoubt.rawValue]?.isNull ?? true { header.onDoubt = .report }
        guard let text = node.string else {
            return findings.expected("a string", node, reason: .badValue, about: key.rawValue)
        }
        if key == .topic {
            if let fault = AddressRule.topic.fault(of: node.bytes.span) {
                let diagnostic = AddressRule.topic.diagnostic(for: fault, at: node)
                return findings.add(.badValue, diagnostic, about: key.rawValue)
            }
        } else {
            do throws(TextFault) {
                let limit = Address.Kind.condition.byteLimit
                guard node.bytes.count <= limit else {
                    throw TextFault("has \(node.bytes.count) bytes; the limit is \(limit)", hint: "name fewer topics")
                }
                _ = try TopicCondition(text)
            } catch {
                let diagnostic = Diagnostic(error.message, hint: error.hint, at: node.place)
                return findings.add(.badValue, diagnostic, about: key.rawValue)
            }
        }
        audience = Address(key == .topic ? .topic : .condition, node.bytes)
        form = .broadcast(node.index)
    }

    private mutating func settleLists(_ keys: [JobKey], _ payloads: Node?) {
        let lists = keys.compactMap { key in value(of: key).map { (key, $0) } }
        // Each is judged, so that all faults are reported.
        let proper = lists.filter { isList($0.1, $0.0) }
        guard proper.count == lists.count else { return }
        if let payloads, let tokens = value(of: .tokens), keys == [.tokens] { return pair(tokens, payloads) }
        form = .lists(lists.map { AddressList(place: $0.1.index, key: $0.0) })
    }

    /// Reads the name of one of the app's channels, or the id of any channel.
    private mutating func channel(_ node: Node, _ context: JobContext) -> BroadcastChannel? {
        let key = JobKey.channel.rawValue
        guard let text = node.string else {
            findings.expected("a string", node, reason: .badChannelID, about: key)
            return nil
        }
        if context.carrier.isBinary {
            let hint = "drop it into an app with protocol: http2"
            findings.add(
                .badChannelID, Diagnostic("the binary protocol has no broadcasts", hint: hint, at: node.place),
                about: key)
            return nil
        }
        if let known = context.channels[text] { return known }
        if let id = ChannelID(text) { return context.channels.values.first { $0.id == id } ?? BroadcastChannel(id: id) }
        let near = Nearest.word(to: text, among: context.channels.keys.sorted())
        let hint = near.map { "did you mean `\($0)`?" }
        let remedy = "use a name from channels: of the app, or the base64 id that `pushspool channel create` prints"
        let message = "\(Diagnostic.quoted(text)) is neither a channel of the app nor a channel's id"
        findings.add(.badChannelID, Diagnostic(message, hint: hint ?? remedy, at: node.place), about: key)
        return nil
    }

    private mutating func isList(_ node: Node, _ key: JobKey) -> Bool {
        guard node.kind == .sequence else {
            let hint: String? =
                switch key {
                case .tokens: "use `token` for a single token"
                case .fids: "use `fid` for a single installation"
                default: nil
                }
            let diagnostic = Diagnostic(
                "expected \(node.sequenceName), found \(node.kindName)", hint: hint, at: node.place)
            findings.add(.badValue, diagnostic, about: key.rawValue)
            return false
        }
        guard node.count > 0 else {
            findings.add(.badValue, Diagnostic("must not be empty", at: node.place), about: key.rawValue)
            return false
        }
        return true
    }

    /// Pairs tokens with payloads; their numbers must agree. pyapns used `zip`, which silently drops the surplus.
    private mutating func pair(_ tokens: Node, _ payloads: Node) {
        guard isList(payloads, .payloads) else { return }
        guard tokens.count == payloads.count else {
            let message = "there are \(tokens.count) tokens and \(payloads.count) payloads"
            let hint = "give one payload per token, or one `payload` for all"
            let diagnostic = Diagnostic(message, hint: hint, at: payloads.place)
            return findings.add(.badValue, diagnostic, about: JobKey.payloads.rawValue)
        }
        if overrides.payload != .none {
            let message = "`payloads` and a shared payload cannot be combined"
            let diagnostic = Diagnostic(message, hint: "put everything into `payloads`", at: payloads.place)
            findings.add(.badPayload, diagnostic, about: JobKey.payloads.rawValue)
        }
        form = .paired(tokens: tokens.index, payloads: payloads.index)
    }

    private mutating func requirePayload(_ root: Node) {
        guard case .none = overrides.payload, !isPayloadFaulty else { return }
        let hint = "add `payload`, or shorthands such as `alert` and `badge`"
        findings.add(.payloadEmpty, Diagnostic("the payload is missing", hint: hint, at: root.place), about: "")
    }
}

extension Node {
    /// Whether the first line of a `.jsonl` job describes the job, and not a recipient.
    package var describesJob: Bool { self["job"] != nil || self["defaults"] != nil }
}
