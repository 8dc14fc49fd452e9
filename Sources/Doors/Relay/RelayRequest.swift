import DoorModel
import PushModel

/// A request that waits until its job was dropped.
struct RelayRequest: Sendable {
    /// The number of its connection.
    let connection: Int
    /// The stream to answer on.
    let stream: UInt32
    /// The id that feedback has.
    let notification: NotificationID
    /// The id to answer with, as the client spelled it.
    let id: [UInt8]
    /// The id under which it is known, if the client may repeat it.
    var key: RecentIDs.Key?
    /// Whose rate it counts against; `nil` for a repetition.
    var producer: Producer?
    /// Whether it is a broadcast, whose id has another field.
    let isBroadcast: Bool
}
