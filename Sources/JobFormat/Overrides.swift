import APNSModel
import PushModel

/// The delivery and payload settings of a mapping: the job's for all recipients, or one recipient's own.
struct Overrides: Hashable, Sendable {
    /// The form in which a mapping specifies a payload.
    enum PayloadForm: Hashable, Sendable {
        /// No payload.
        case none
        /// Whole, under `payload`.
        case whole(CompiledPayload)
        /// By shorthands.
        case parts(PayloadParts)
        /// A message of FCM's.
        case message(MessageSource)
    }

    var topic: String?
    var pushType: PushType?
    var priority: Priority?
    var expiration: Expiration?
    var collapseID: String?
    var payload = PayloadForm.none

    /// Returns why this recipient's payload cannot be combined with the job's: shorthands can only change shorthands.
    func clash(with job: Overrides) -> (message: String, hint: String)? {
        switch (payload, job.payload) {
        case (.parts, .whole):
            return (
                "shorthands cannot change the job's `payload`",
                "use shorthands instead of `payload` in the job, or give this recipient a `payload`"
            )
        case (.message(let own), .message(let other)): return own.clash(with: other)
        case (.none, _), (.whole, _), (.parts, _), (.message, _): return nil
        }
    }

    /// Returns the job's overrides, replaced by the recipient's where it has any.
    func overlaid(by recipient: Overrides) -> Overrides {
        var overrides = self
        overrides.topic = recipient.topic ?? topic
        overrides.pushType = recipient.pushType ?? pushType
        overrides.priority = recipient.priority ?? priority
        overrides.expiration = recipient.expiration ?? expiration
        overrides.collapseID = recipient.collapseID ?? collapseID
        switch (payload, recipient.payload) {
        case (_, .none): break
        case (.parts(let own), .parts(let other)): overrides.payload = .parts(own.overlaid(by: other))
        case (.message(let own), .message(let other)): overrides.payload = .message(own.overlaid(by: other))
        case (_, .whole), (_, .parts), (_, .message): overrides.payload = recipient.payload
        }
        return overrides
    }

    /// The bytes of values that are joined into the payload, without their names.
    var partsByteCount: Int {
        switch payload {
        case .none, .whole: 0
        case .parts(let parts): parts.byteCount
        case .message(let source): source.byteCount
        }
    }

    /// The payload for Apple; `nil` if the overrides specify none.
    var compiledPayload: CompiledPayload? {
        switch payload {
        case .none, .message: nil
        case .whole(let payload): payload
        case .parts(let parts): parts.compiled()
        }
    }

    /// Returns the attributes of a notification whose payload has these facts and whose job may be sent from `earliest` on.
    func attributes(for facts: PayloadFacts, from earliest: WallTime) -> Attributes {
        let type = pushType ?? topic.flatMap(PushTopic.type(ofSuffixIn:)) ?? (facts.isSilent ? .background : .alert)
        var attributes = Attributes(
            topic: topic, pushType: type,
            priority: priority ?? (facts.isSilent ? .powerSaving : type.defaultPriority),
            expiration: expiration
                ?? Expiration(epochSeconds: (earliest + ExpirationText.defaultLifetime).epochSeconds))
        attributes.collapseID = collapseID
        return attributes
    }

    /// The attributes of a broadcast. A single attempt is right for every channel.
    var broadcastAttributes: Attributes {
        var attributes = Attributes(
            topic: topic, pushType: pushType ?? .liveactivity, priority: priority ?? .immediate,
            expiration: expiration ?? .singleAttempt)
        (attributes.collapseID, attributes.addressKind) = (collapseID, .channel)
        return attributes
    }
}
