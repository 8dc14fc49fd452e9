package import Document

/// A member of one of FCM's messages.
package struct MessageField: Hashable, Sendable {
    /// The name in the reference and in Google's libraries: `body_loc_key`.
    package let name: String
    /// The name in lower camel case, which FCM also takes: `bodyLocKey`.
    package let jsonName: String
    /// The type of its value.
    package let type: FieldType

    init(_ name: String, _ type: FieldType) {
        (self.name, self.type) = (name, type)
        let words = name.split(separator: "_")
        jsonName = words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}

/// The messages that an FCM message consists of, with the members of each
/// (<https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages>).
///
/// Every name that is not listed is refused by FCM with 400, and so is a value of another type. Null counts as absent.
package enum MessageType: CaseIterable, Hashable, Sendable {
    /// `Message`, with its address.
    case message
    /// `Notification`, for all platforms.
    case notification
    /// `FcmOptions`, and `AndroidFcmOptions`.
    case fcmOptions
    /// `AndroidConfig`.
    case androidConfig
    /// `AndroidConfigV2`, a preview since 2026 (<https://firebase.google.com/docs/cloud-messaging/send/v2-api>).
    case androidConfigV2
    /// `AndroidNotification`.
    case androidNotification
    /// The notification of `RemoteNotification`: an `AndroidNotification` with an id.
    case androidNotificationV2
    /// `RemoteNotification`, of `AndroidConfigV2`.
    case remoteNotification
    /// `BackgroundSync`, of `AndroidConfigV2`.
    case backgroundSync
    /// `LightSettings`.
    case lightSettings
    /// `Color`, of `LightSettings`.
    case color
    /// `ApnsConfig`.
    case apnsConfig
    /// `ApnsFcmOptions`.
    case apnsFCMOptions
    /// `WebpushConfig`.
    case webpushConfig
    /// `WebpushFcmOptions`.
    case webpushFCMOptions

    /// The members, in the order of the reference.
    package var fields: [MessageField] { Self.table[self]?.fields ?? [] }

    /// Returns the member with this name, in either spelling.
    package func field(named name: String) -> MessageField? { Self.table[self]?.byName[name] }

    private static let table: [MessageType: (fields: [MessageField], byName: [String: MessageField])] =
        Dictionary(
            uniqueKeysWithValues: allCases.map { type in
                let fields = type.members
                // A name of one word is the same in both spellings.
                let names = fields.map { ($0.name, $0) } + fields.map { ($0.jsonName, $0) }
                return (type, (fields, Dictionary(names) { first, _ in first }))
            })

    private var members: [MessageField] {
        switch self {
        case .message:
            Self.strings("name", "token", "fid", "topic", "condition") + [MessageField("data", .data)]
                + Self.messages([
                    "notification": .notification, "android": .androidConfig, "android_v2": .androidConfigV2,
                    "webpush": .webpushConfig, "apns": .apnsConfig, "fcm_options": .fcmOptions,
                ])
        case .notification: Self.strings("title", "body", "image")
        case .fcmOptions: Self.labels
        case .androidConfig:
            [MessageField("priority", .scalar(.choice(.messagePriority)))]
                + Self.messages(["notification": .androidNotification]) + Self.androidMembers
        case .androidConfigV2:
            Self.messages(["remote_notification": .remoteNotification, "background_sync": .backgroundSync])
                + Self.androidMembers
        case .androidNotification: Self.androidNotificationMembers
        case .androidNotificationV2: Self.androidNotificationMembers + [MessageField("id", .scalar(.int32))]
        case .remoteNotification:
            Self.booleans("mutable_content", "use_as_v1_data_message")
                + Self.messages(["notification": .androidNotificationV2])
        case .backgroundSync: []
        case .lightSettings:
            Self.messages(["color": .color])
                + ["light_on_duration", "light_off_duration"].map { MessageField($0, .scalar(.duration)) }
        case .color: ["red", "green", "blue", "alpha"].map { MessageField($0, .scalar(.fraction)) }
        case .apnsConfig:
            [MessageField("headers", .headers), MessageField("payload", .object)]
                + Self.messages(["fcm_options": .apnsFCMOptions]) + Self.strings("live_activity_token")
        case .apnsFCMOptions: Self.labels + Self.strings("image")
        case .webpushConfig:
            [MessageField("headers", .headers), MessageField("data", .data), MessageField("notification", .object)]
                + Self.messages(["fcm_options": .webpushFCMOptions])
        case .webpushFCMOptions: [MessageField("link", .scalar(.link))] + Self.labels
        }
    }

    private static var labels: [MessageField] { [MessageField("analytics_label", .scalar(.analyticsLabel))] }

    /// The members that both versions of the configuration for Android have.
    private static var androidMembers: [MessageField] {
        strings("collapse_key", "restricted_package_name")
            + [MessageField("ttl", .scalar(.lifetime)), MessageField("data", .data)]
            + messages(["fcm_options": .fcmOptions])
            + booleans("direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok")
    }

    private static var androidNotificationMembers: [MessageField] {
        strings(
            "title", "body", "icon", "sound", "tag", "click_action", "body_loc_key", "title_loc_key", "channel_id",
            "ticker", "image")
            + booleans(
                "sticky", "local_only", "default_sound", "default_vibrate_timings", "default_light_settings",
                "bypass_proxy_notification")
            + [
                MessageField("color", .scalar(.color)),
                MessageField("body_loc_args", .list(.string)), MessageField("title_loc_args", .list(.string)),
                MessageField("event_time", .scalar(.timestamp)), MessageField("vibrate_timings", .list(.duration)),
                MessageField("notification_count", .scalar(.int32)),
                MessageField("notification_priority", .scalar(.choice(.notificationPriority))),
                MessageField("visibility", .scalar(.choice(.visibility))),
                MessageField("proxy", .scalar(.choice(.proxy))),
                MessageField("light_settings", .message(.lightSettings)),
            ]
    }

    private static func strings(_ names: String...) -> [MessageField] {
        names.map { MessageField($0, .scalar(.string)) }
    }

    private static func messages(_ types: KeyValuePairs<String, MessageType>) -> [MessageField] {
        types.map { MessageField($0, .message($1)) }
    }

    private static func booleans(_ names: String...) -> [MessageField] {
        names.map { MessageField($0, .scalar(.boolean)) }
    }
}

extension MessageType {
    /// Returns the value of a member, in either spelling; `nil` if it is absent or null.
    package func value(_ name: String, in node: Node) -> Node? {
        guard let field = field(named: name), let value = node[field.name] ?? node[field.jsonName], !value.isNull else {
            return nil
        }
        return value
    }
}
