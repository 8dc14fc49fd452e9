import APNSModel
import Document
import FCMModel
import PushModel

/// An FCM message with the delivery keys that go with it, which become members of it.
struct MessageDelivery {
    /// The documented limit for a message, and for one to a topic, which is not enforced.
    private static let (byteLimit, topicByteLimit) = (4096, 2048)
    /// The most bytes that are sent at all.
    private static let wholeByteLimit = 16 << 10

    private let source: MessageSource
    private let members: [MessageMember]
    private let wishes: Overrides
    private let earliest: WallTime
    /// When the message expires: as the key says, else as the member for Android says.
    let expiration: Expiration

    /// Joins the message of settings with their delivery keys. The job may be sent from `earliest` on.
    init(_ source: MessageSource, _ overrides: Overrides, from earliest: WallTime) {
        (self.source, wishes, self.earliest, members) = (source, overrides, earliest, source.members)
        let ttl = (members[.android] ?? members[.androidV2])?.facts.ttl
        expiration = overrides.expiration ?? Self.expiration(after: ttl ?? TimeToLive.longest, from: earliest)
    }

    private static func expiration(after ttl: Duration, from earliest: WallTime) -> Expiration {
        ttl < .seconds(1) ? .singleAttempt : Expiration(epochSeconds: (earliest + ttl).epochSeconds)
    }

    /// The member for Android that the delivery keys go to.
    private var android: MessageMember? { members[.android] ?? members[.androidV2] }

    /// The members of the message, without braces and address.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.byteCount + 128)
        for member in members.map(renewed) {
            switch member.key {
            case let key? where key == android?.key: member.append(to: &bytes, adding: androidEntries)
            case .apns where member.facts.expiration == nil:
                member.append(to: &bytes, adding: Array("\"apns-expiration\":\"\(expiration.epochSeconds)\"".utf8))
            case .webpush where member.facts.expiration == nil:
                member.append(to: &bytes, adding: Array("\"TTL\":".utf8) + TimeToLive.value(unit: ""))
            default: member.append(to: &bytes)
            }
        }
        if android == nil { MessageMember(.android, entries: androidEntries).append(to: &bytes) }
        return bytes
    }

    /// Returns a member whose seconds are counted when it is written: the one for Android, which sets the expiration if the key
    /// does not, and the one for Web Push if the key says the same.
    private func renewed(_ member: MessageMember) -> MessageMember {
        let isRenewed = member.key == android?.key || member.key == .webpush && wishes.expiration != nil
        return isRenewed ? member.renewed : member
    }

    /// The delivery keys that the member for Android does not have yet.
    private var androidEntries: [UInt8] {
        var entries: [UInt8] = []
        let facts = android?.facts
        if let priority = wishes.priority, facts?.priority == nil {
            entries.append(entry: "priority", Array((priority == .immediate ? "\"HIGH\"" : "\"NORMAL\"").utf8))
        }
        if facts?.ttl == nil {
            entries.append(entry: "ttl", TimeToLive.value(unit: "s"))
        }
        if let key = wishes.collapseID, facts?.collapseKey == nil {
            var writer = JSONWriter()
            writer.string(key)
            entries.append(entry: "collapse_key", writer.bytes)
        }
        return entries
    }

    // MARK: Rules

    /// Returns the rules that the message breaks if it is sent to an address of this kind; usually none.
    func violations(to kind: Address.Kind) -> [DeliveryRules.Violation] {
        var violations: [DeliveryRules.Violation] = []
        checkSize(kind, &violations)
        if members[.android] != nil, members[.androidV2] != nil {
            violations.append(
                DeliveryRules.Violation(
                    reason: .badPayload, key: .androidV2, message: "Google does not say what `android` beside it means",
                    hint: "remove one", isWarning: true))
        }
        if wishes.priority != nil, members[.androidV2] != nil {
            violations.append(
                DeliveryRules.Violation(
                    reason: .badPriority, key: .priority, message: "`android_v2` has no priority",
                    hint: "remove it: `remote_notification` is urgent, `background_sync` is not"))
        }
        checkAgreement(&violations)
        return violations
    }

    private func checkSize(_ kind: Address.Kind, _ violations: inout [DeliveryRules.Violation]) {
        let data = android?.facts.dataByteCount ?? members[.data]?.facts.dataByteCount ?? 0
        let byteCount = data + (members[.notification]?.facts.textByteCount ?? 0)
        if byteCount > Self.byteLimit || source.byteCount > Self.wholeByteLimit {
            let message =
                byteCount > Self.byteLimit
                ? "`data` and `notification` have \(byteCount) bytes; the limit is \(Self.byteLimit)"
                : "the message has more than \(source.byteCount) bytes; the limit is \(Self.wholeByteLimit)"
            violations.append(
                DeliveryRules.Violation(
                    reason: .payloadTooLarge, key: source.mainKey, message: message, hint: "shorten it"))
        } else if kind.isShared, byteCount > Self.topicByteLimit {
            violations.append(
                DeliveryRules.Violation(
                    reason: .payloadTooLarge, key: source.mainKey,
                    message:
                        "`data` and `notification` have \(byteCount) bytes; Google documents \(Self.topicByteLimit) "
                        + "for topics", hint: "shorten it", isWarning: true))
        }
    }

    /// Checks that a delivery key and the same field inside the message say the same.
    private func checkAgreement(_ violations: inout [DeliveryRules.Violation]) {
        let facts = android?.facts
        let name = android?.key?.rawValue ?? ""
        if let key = wishes.priority, let own = facts?.priority, key != own {
            violations.append(differs(.priority, .badPriority, "\(name).priority"))
        }
        if let key = wishes.collapseID, let own = facts?.collapseKey, key != own {
            violations.append(differs(.collapseID, .badCollapseID, "\(name).collapse_key"))
        }
        guard let expiration = wishes.expiration else { return }
        // A later expiration than FCM takes is capped in the message.
        let whole = expiration == .singleAttempt ? 0 : expiration.epochSeconds - earliest.epochSeconds
        let seconds = min(whole, TimeToLive.longest.components.seconds)
        let capped = whole > seconds ? Self.expiration(after: TimeToLive.longest, from: earliest) : expiration
        if let ttl = facts?.ttl, Self.expiration(after: ttl, from: earliest) != capped {
            violations.append(differs(.expiration, .badExpirationDate, "\(name).ttl"))
        }
        if let ttl = members[.webpush]?.facts.expiration, Int64(ttl) != seconds {
            violations.append(differs(.expiration, .badExpirationDate, "webpush.headers.TTL"))
        }
        if let time = members[.apns]?.facts.expiration, Int64(time) != expiration.epochSeconds {
            violations.append(differs(.expiration, .badExpirationDate, "apns.headers.apns-expiration"))
        }
    }

    private func differs(_ key: JobKey, _ reason: FaultReason, _ member: String) -> DeliveryRules.Violation {
        DeliveryRules.Violation(
            reason: reason, key: key, message: "differs from `\(member)` of the message", hint: "remove one of them")
    }
}
