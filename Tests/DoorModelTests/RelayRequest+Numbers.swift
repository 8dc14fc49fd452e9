package import DoorModel
import PushModel

/// Requests that are told apart by a number.
extension RelayRequest: ExpressibleByIntegerLiteral, Equatable {
    init(_ number: Int) {
        let notification = NotificationID(job: JobID(bits: 1), index: number)
        self.init(connection: number, stream: 1, notification: notification, id: [])
    }

    package init(integerLiteral number: Int) { self.init(number) }

    package static func == (one: RelayRequest, other: RelayRequest) -> Bool { one.connection == other.connection }
}
