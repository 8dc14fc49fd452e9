/// The push type of a notification: the value of `apns-push-type` (Apple, "Sending notification requests to APNs").
package enum PushType: String, CaseIterable, Hashable, Sendable {
    /// Shows an alert, a badge or plays a sound.
    case alert
    /// Wakes the app without showing anything.
    case background
    /// Asks for the device's location.
    case location
    /// Announces a call.
    case voip
    /// Updates a watch complication.
    case complication
    /// Announces changed files.
    case fileprovider
    /// Tells a managed device to contact its server.
    case mdm
    /// Starts, updates or ends a Live Activity.
    case liveactivity
    /// Announces a Push to Talk message.
    case pushtotalk
    /// Reloads widgets.
    case widgets
    /// Reloads controls.
    case controls

    /// Whether the payload must have an `aps` member. The payload of the other types belongs to the app.
    package var requiresAPS: Bool {
        switch self {
        case .alert, .background, .liveactivity, .widgets, .controls: true
        case .location, .voip, .complication, .fileprovider, .mdm, .pushtotalk: false
        }
    }

    /// The priority of a notification that does not set one.
    package var defaultPriority: Priority {
        self == .background ? .powerSaving : .immediate
    }

    /// Whether the gateway accepts this priority with this type. It rejects a background push with priority 10.
    package func allows(_ priority: Priority) -> Bool {
        self != .background || priority != .immediate
    }
}
