package import PushModel

/// A request that waits until its job was dropped.
package struct RelayRequest: Sendable {
    /// The number of its connection.
    package let connection: Int
    /// The stream to answer on.
    package let stream: UInt32
    /// The id that feedback has.
    package let notification: NotificationID
    /// The id to answer with, as the client spelled it.
    package let id: [UInt8]
    /// Whether it is a broadcast, whose id has another field.
    package var isBroadcast = false
    /// The id under which it is known, if the client may repeat it.
    package var key: RecentIDs.Key?
    /// Whose rate it counts against; `nil` for a repetition.
    package var producer: Producer?

    /// Creates a request to a device, without a key and a producer.
    package init(connection: Int, stream: UInt32, notification: NotificationID, id: [UInt8]) {
        (self.connection, self.stream, self.notification, self.id) = (connection, stream, notification, id)
    }
}
