import APNSModel
import PushModel

/// The rules for combining payloads and attributes, so that no gateway rejects and no device silently drops the result.
enum DeliveryRules {
    /// A rule that a notification breaks.
    struct Violation: Hashable, Sendable {
        let reason: FaultReason
        /// The key to point to, if the job has it.
        let key: JobKey
        let message: String
        let hint: String?
        var isWarning = false
        /// The member of a whole payload to point to instead.
        var member: PlacedKey?
    }

    /// Returns the rules that a notification breaks; usually none.
    static func violations(
        of payload: CompiledPayload, _ attributes: Attributes, to channel: BroadcastChannel?, in context: JobContext
    ) -> [Violation] {
        var violations: [Violation] = []
        let facts = payload.facts
        if let channel { return broadcastViolations(of: payload, attributes, to: channel, in: context) }
        checkSize(payload.payload.bytes.count, attributes, context.carrier, &violations)
        if context.carrier == .http2 { checkTopic(attributes, context, &violations) }
        checkPresence(of: payload, attributes, context, &violations)
        switch attributes.pushType {
        case .background: checkBackground(facts, attributes, &violations)
        case .liveactivity: checkLiveActivity(facts, attributes, &violations)
        case .location: checkLocation(attributes, &violations)
        case .alert, .voip, .complication, .fileprovider, .mdm, .pushtotalk, .widgets, .controls: break
        }
        if facts.isSilent, attributes.priority == .immediate, attributes.pushType != .background {
            violations.append(silentAtOnce)
        }
        if facts.contains(.mutableContent), !facts.contains(.alert) { violations.append(mutableWithoutAlert) }
        checkKeys(payload, attributes.pushType, &violations)
        return violations
    }

    /// Warns about members of `aps` that have no effect in a push of this type. The payloads of some types are the app's own.
    private static func checkKeys(
        _ payload: CompiledPayload, _ type: PushType, _ violations: inout [Violation]
    ) {
        guard type.requiresAPS else { return }
        for key in APSKey.ordinary where payload.facts.contains(key.fact) && type != .alert {
            // In a background push these are faults.
            if type == .background, key != .contentAvailable { continue }
            let shorthand = payload.isOfParts ? PayloadParts.order.first { $0.member == key }?.key : nil
            warn(PlacedKey(key, as: shorthand), type, payload.facts, &violations)
        }
        for key in payload.keys { warn(key, type, payload.facts, &violations) }
        if payload.facts.contains(.wideRelevance), type == .alert {
            violations.append(
                Violation(
                    reason: .badPayload, key: .payload, message: "`relevance-score` is not between 0 and 1",
                    hint: "only Live Activities have other scores (Apple, \"Generating a remote notification\")",
                    isWarning: true))
        }
        if payload.facts.isSuperset(of: [.inputPushToken, .inputPushChannel]), type == .liveactivity {
            violations.append(
                Violation(
                    reason: .badPayload, key: .payload,
                    message: "`input-push-token` and `input-push-channel` exclude each other",
                    hint: "remove one of them",
                    isWarning: true))
        }
    }

    private static func warn(
        _ member: PlacedKey, _ type: PushType, _ facts: PayloadFacts, _ violations: inout [Violation]
    ) {
        guard let (message, hint) = member.key.complaint(in: type, facts) else { return }
        violations.append(
            Violation(
                reason: .badPayload, key: member.shorthand ?? .payload, message: message, hint: hint, isWarning: true,
                member: member.path.isEmpty ? nil : member))
    }

    /// The violation of a notification that expires before its job may be sent.
    static func tooLate(at notBefore: WallTime) -> Violation {
        Violation(
            reason: .badExpirationDate, key: .expiration,
            message: "is earlier than the job's start time, \(notBefore.rfc3339)",
            hint: "set a later expiration (with +, it counts from the drop) or an earlier not_before")
    }

    /// Returns the rules that a broadcast breaks (Apple, "Sending broadcast push notification requests to APNs").
    private static func broadcastViolations(
        of payload: CompiledPayload, _ attributes: Attributes, to channel: BroadcastChannel, in context: JobContext
    ) -> [Violation] {
        var violations: [Violation] = []
        checkSize(payload.payload.bytes.count, attributes, context.carrier, &violations)
        // Without an app, nothing is known of its topic.
        if context.topic == nil, context.identity != nil {
            violations.append(
                Violation(
                    reason: .missingTopic, key: .channel,
                    message: "a broadcast names the app, and the app has no topic",
                    hint: "set topic: in the app's configuration to its bundle identifier"))
        }
        if attributes.topic != nil {
            violations.append(
                Violation(
                    reason: .badTopic, key: .topic, message: "a broadcast has no topic: its channel belongs to the app",
                    hint: "remove it"))
        }
        if attributes.pushType != .liveactivity {
            violations.append(
                Violation(
                    reason: .invalidPushType, key: .pushType, message: "a broadcast must have push_type liveactivity",
                    hint: "remove it: that is the default"))
        }
        checkBroadcastDelivery(payload.facts, attributes, channel, &violations)
        checkLiveActivity(payload.facts, attributes, &violations)
        checkKeys(payload, .liveactivity, &violations)
        return violations
    }

    private static func checkBroadcastDelivery(
        _ facts: PayloadFacts, _ attributes: Attributes, _ channel: BroadcastChannel, _ violations: inout [Violation]
    ) {
        if facts.contains(.start) {
            violations.append(
                Violation(
                    reason: .badPayload, key: .payload, message: "a broadcast cannot start a Live Activity",
                    hint: "send event start to each device's push-to-start token"))
        }
        if channel.policy == .nothing, attributes.expiration != .singleAttempt {
            violations.append(
                Violation(
                    reason: .badExpirationDate, key: .expiration,
                    message: "must be 0: the channel stores nothing for devices that are offline",
                    hint: "remove it: 0 is the default; or create a channel with --policy latest"))
        }
        if attributes.collapseID != nil {
            violations.append(
                Violation(
                    reason: .badCollapseID, key: .collapseID, message: "is not sent: broadcasts have no collapse id",
                    hint: "remove it", isWarning: true))
        }
    }

    private static func checkSize(
        _ byteCount: Int, _ attributes: Attributes, _ carrier: Carrier, _ violations: inout [Violation]
    ) {
        let limit = carrier.payloadLimit(for: attributes)
        guard byteCount > limit else { return }
        let message = "the payload has \(byteCount) bytes; the limit is \(limit)"
        violations.append(Violation(reason: .payloadTooLarge, key: .payload, message: message, hint: "shorten it"))
    }

    /// Checks the value of `apns-topic`, and that the app's credentials are valid for it.
    private static func checkTopic(_ attributes: Attributes, _ context: JobContext, _ violations: inout [Violation]) {
        let type = attributes.pushType
        let topic = attributes.topic ?? context.topic.map { PushTopic.topic(for: type, app: $0) }
        // Unknown credentials are assumed to be sufficient.
        guard let identity = context.identity ?? topic.map({ _ in .providerToken }),
            let fault = PushTopic.fault(of: topic, for: type, with: identity)
        else { return }
        var culprit = (reason: topic == nil ? FaultReason.missingTopic : .badTopic, key: JobKey.topic)
        if attributes.topic == nil, topic != nil { culprit = (.invalidPushType, .pushType) }
        if type.rules.needsProviderToken, case .certificate = identity { culprit = (.invalidPushType, .pushType) }
        violations.append(
            Violation(
                reason: culprit.reason, key: culprit.key, message: fault.message, hint: fault.hint,
                isWarning: fault.isWarning))
    }

    private static func checkLocation(_ attributes: Attributes, _ violations: inout [Violation]) {
        guard !attributes.pushType.rules.priorities.contains(attributes.priority) else { return }
        violations.append(
            Violation(
                reason: .badPriority, key: .priority, message: "a location push must have priority 10 or 5", hint: nil))
    }

    private static func checkBackground(
        _ facts: PayloadFacts, _ attributes: Attributes, _ violations: inout [Violation]
    ) {
        if attributes.priority == .immediate {
            violations.append(
                Violation(
                    reason: .badPriority, key: .priority, message: "a background push must not have priority 10",
                    hint: "remove it: 5 is the default"))
        }
        if facts.contains(.aps), !facts.contains(.contentAvailable) {
            violations.append(
                Violation(
                    reason: .badPayload, key: .payload, message: "a background push needs content-available 1",
                    hint: "add it, or use push_type alert"))
        }
        if !facts.isDisjoint(with: [.alert, .badge, .sound]) {
            violations.append(
                Violation(
                    reason: .badPayload, key: .payload, message: "a background push must not alert, badge or sound",
                    hint: "remove alert, badge and sound, or use push_type alert"))
        }
    }

    private static func checkLiveActivity(
        _ facts: PayloadFacts, _ attributes: Attributes, _ violations: inout [Violation]
    ) {
        // Apple's page on broadcasts lists 1, too.
        if attributes.priority == .lowest, attributes.addressKind == .deviceToken {
            violations.append(
                Violation(
                    reason: .badPriority, key: .priority, message: "a Live Activity push must have priority 10 or 5",
                    hint: nil))
        }
        var needed: [(PayloadFacts, String)] = [
            (.event, "event"), (.timestamp, "timestamp"), (.contentState, "content-state"),
        ]
        if facts.contains(.start) {
            needed += [(.alert, "alert"), (.attributesType, "attributes-type"), (.attributes, "attributes")]
        }
        let missing = needed.filter { !facts.contains($0.0) }.map { "`\($0.1)`" }
        guard facts.contains(.aps), !missing.isEmpty else { return }
        let message = "a Live Activity push needs \(missing.joined(separator: ", ")) in `aps`"
        violations.append(
            Violation(reason: .badPayload, key: .payload, message: message, hint: "devices silently drop it otherwise"))
    }

    /// Checks that there is an `aps`. The update of a pass has the payload `{}`, and its topic is the pass type's identifier
    /// (Apple, "Adding a Web Service to Update Passes").
    private static func checkPresence(
        of payload: CompiledPayload, _ attributes: Attributes, _ context: JobContext, _ violations: inout [Violation]
    ) {
        let topic = attributes.topic ?? context.topic
        guard attributes.pushType.requiresAPS, !payload.facts.contains(.aps), topic?.hasPrefix("pass.") != true else {
            return
        }
        let hint = "add `aps` with `alert`, `badge`, `sound` or another member"
        violations.append(
            Violation(
                reason: .badPayload, key: .payload,
                message: "a push of type \(attributes.pushType.rawValue) needs `aps`",
                hint: payload.isEmptyObject ? "\(hint); `{}` is for topics that begin with pass." : hint,
                // It may be the update of a pass.
                isWarning: topic == nil && payload.isEmptyObject))
    }

    private static let silentAtOnce = Violation(
        reason: .badPriority, key: .priority,
        message: "a payload with `content-available` alone must not have priority 10", hint: "use priority 5")

    private static let mutableWithoutAlert = Violation(
        reason: .badPayload, key: .payload,
        message: "`mutable-content` without `alert` does not run the app's extension", hint: "add `alert`",
        isWarning: true)
}
