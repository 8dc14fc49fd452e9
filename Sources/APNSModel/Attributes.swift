/// How soon a notification is to be delivered to the device; says nothing about our own queue.
package enum Priority: UInt8, CaseIterable, Hashable, Sendable {
    /// 10: at once.
    case immediate = 10
    /// 5: when it suits the device's power.
    case powerSaving = 5
    /// 1: never wakes the device.
    case lowest = 1
}

/// Until when the gateway may keep trying, in whole seconds since 1970; 0 asks for a single attempt.
package struct Expiration: Hashable, Sendable {
    /// The seconds, never negative.
    package let epochSeconds: Int64

    /// Creates an expiration; negative seconds count as 0.
    package init(epochSeconds: Int64) {
        self.epochSeconds = max(0, epochSeconds)
    }

    /// One attempt at the gateway, nothing stored.
    package static let singleAttempt = Expiration(epochSeconds: 0)

    /// Whether it is too late to send. A single attempt never is.
    package func hasPassed(at time: WallTime) -> Bool {
        epochSeconds != 0 && epochSeconds <= time.epochSeconds
    }
}

/// What all notifications of a batch share besides the payload.
package struct Attributes: Hashable, Sendable {
    /// The topic that the job itself names, suffix and all; `nil` leaves it to the app.
    package var topic: String?
    /// The kind of push.
    package var pushType: PushType
    /// The delivery priority.
    package var priority: Priority
    /// When it is too late.
    package var expiration: Expiration
    /// Notifications with the same one replace each other on the device; at most 64 bytes.
    package var collapseID: String?

    /// Creates a set of attributes; the caller has checked that they fit each other.
    package init(
        topic: String? = nil, pushType: PushType = .alert, priority: Priority = .immediate,
        expiration: Expiration = .singleAttempt
    ) {
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = nil
    }
}
