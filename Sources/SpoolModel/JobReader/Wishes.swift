import APNSModel

/// What a mapping says about delivery and payload: the job for all, or a recipient for itself.
struct Wishes: Hashable, Sendable {
    /// How a mapping gives a payload.
    enum PayloadWish: Hashable, Sendable {
        /// Not at all.
        case none
        /// Whole, under `payload`.
        case whole(CompiledPayload)
        /// By shorthands.
        case parts(PayloadParts)
    }

    var topic: String?
    var pushType: PushType?
    var priority: Priority?
    var expiration: Expiration?
    var collapseID: String?
    var payload = PayloadWish.none

    /// Whether the payload of `self`, a recipient, cannot go with that of the job: shorthands change shorthands only.
    func clashes(with job: Wishes) -> Bool {
        guard case .parts = payload, case .whole = job.payload else { return false }
        return true
    }

    /// These wishes of the job, with those of a recipient where it has any.
    func overlaid(by recipient: Wishes) -> Wishes {
        var wishes = self
        wishes.topic = recipient.topic ?? topic
        wishes.pushType = recipient.pushType ?? pushType
        wishes.priority = recipient.priority ?? priority
        wishes.expiration = recipient.expiration ?? expiration
        wishes.collapseID = recipient.collapseID ?? collapseID
        switch (payload, recipient.payload) {
        case (_, .none): break
        case (.parts(let own), .parts(let other)): wishes.payload = .parts(own.overlaid(by: other))
        case (_, .whole), (.none, .parts), (.whole, .parts): wishes.payload = recipient.payload
        }
        return wishes
    }

    /// The payload they make, if they say anything of one.
    var compiledPayload: CompiledPayload? {
        switch payload {
        case .none: nil
        case .whole(let payload): payload
        case .parts(let parts): parts.compiled()
        }
    }

    /// The attributes of a notification with such a payload, of a job that may be sent from then on.
    func attributes(for facts: PayloadFacts, from earliest: WallTime) -> Attributes {
        let type = pushType ?? (facts.isSilent ? .background : .alert)
        var attributes = Attributes(
            topic: topic, pushType: type,
            priority: priority ?? (facts.isSilent ? .powerSaving : type.defaultPriority),
            expiration: expiration
                ?? Expiration(epochSeconds: (earliest + ExpirationText.defaultLifetime).epochSeconds))
        attributes.collapseID = collapseID
        return attributes
    }
}
