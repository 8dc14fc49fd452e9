import PushModel

/// An FCM message as a mapping specifies it: in one of three ways, which cannot be mixed.
enum MessageSource: Hashable, Sendable {
    /// Whole, under `payload`: its members in the user's order.
    case payload([MessageMember])
    /// By members that are keys of the job or recipient.
    case members([MessageMember])
    /// By shorthands.
    case shorthands(MessageShorthands)

    /// The bytes of all values.
    var byteCount: Int {
        switch self {
        case .payload(let members), .members(let members): members.reduce(0) { $0 + $1.byteCount }
        case .shorthands(let shorthands): shorthands.byteCount
        }
    }

    /// The members to send.
    var members: [MessageMember] {
        switch self {
        case .payload(let members), .members(let members): members
        case .shorthands(let shorthands): shorthands.members
        }
    }

    /// The key to point to in complaints about the size.
    var mainKey: JobKey {
        switch self {
        case .payload: .payload
        case .members: .data
        case .shorthands: .custom
        }
    }

    /// Returns why this message of a recipient cannot be combined with the job's. A recipient's `payload` replaces any message.
    func clash(with job: MessageSource) -> (message: String, hint: String)? {
        switch (self, job) {
        case (.payload, _), (.members, .members), (.shorthands, .shorthands): nil
        case (.members, _):
            (
                "members of a message cannot change the job's \(job.words)",
                "write the job's message by members too, or give this recipient a `payload`"
            )
        case (.shorthands, _):
            (
                "shorthands cannot change the job's \(job.words)",
                "use shorthands in the job too, or give this recipient a `payload`"
            )
        }
    }

    private var words: String {
        switch self {
        case .payload: "`payload`"
        case .members: "members such as `notification`"
        case .shorthands: "shorthands such as `alert`"
        }
    }

    /// Returns this message, replaced by a recipient's where it has any: member by member, or shorthand by shorthand.
    func overlaid(by recipient: MessageSource) -> MessageSource {
        switch (self, recipient) {
        case (.members(let own), .members(let other)):
            .members((own.filter { member in !other.contains { $0.key == member.key } } + other).inOrder)
        case (.shorthands(let own), .shorthands(let other)): .shorthands(own.overlaid(by: other))
        case (_, .payload), (_, .members), (_, .shorthands): recipient
        }
    }
}

extension [MessageMember] {
    /// The members in the order in which they are sent if they were not written in one mapping.
    var inOrder: [MessageMember] {
        let order: [JobKey] = [.notification, .data, .android, .androidV2, .apns, .webpush, .fcmOptions]
        return order.compactMap { key in first { $0.key == key } }
    }

    /// Returns the member with this key.
    subscript(key: JobKey) -> MessageMember? { first { $0.key == key } }
}
