/// The keys that `data` must not have, in the message or for one platform
/// (<https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages#Message>).
package enum DataKey {
    /// Whether FCM refuses the key.
    package static func isReserved(_ key: String) -> Bool {
        ["from", "message_type"].contains(key) || ["google.", "gcm.notification."].contains(where: key.hasPrefix)
    }

    /// Whether an older page reserves the key, by its beginning. FCM takes it today.
    package static func wasReserved(_ key: String) -> Bool { ["google", "gcm"].contains(where: key.hasPrefix) }
}
