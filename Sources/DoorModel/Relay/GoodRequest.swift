import APNSModel
import APNSServing
import JobFormat
import PushModel

/// A request to a device that passed all checks. Another that differs only in token, id, and what no check of its payload looks
/// at, passes them too.
///
/// Programs often send messages of one form to many devices, and the checks are the greater part of a request's cost.
struct GoodRequest {
    private let app: String
    private let type: PushType?
    private let priority: UInt8?
    private let expiry: UInt32?
    private let tokenByteCount: Int
    private let topic: [UInt8]
    private let collapseID: [UInt8]?
    private let payload: PayloadPattern

    init(_ reading: RequestReading, _ payload: PayloadPattern, app: String) {
        (self.app, type, priority, expiry) = (app, reading.pushType, reading.priority, reading.expiry)
        tokenByteCount = reading.token.count
        topic = reading.topic.map(Array.init) ?? []
        collapseID = reading.collapseID.map(Array.init)
        self.payload = payload
    }

    /// Whether a request for the app, with a payload at a place in its line, passes the checks, too; `false` if that is unknown.
    fileprivate func isLike(_ reading: RequestReading, payload: Range<Int>, in line: [UInt8], app: String) -> Bool {
        guard app == self.app, reading.purpose == .notification, reading.pushType == type, reading.priority == priority,
            reading.expiry == expiry, reading.token.count == tokenByteCount,
            (reading.topic ?? []).isSame(as: topic)
        else { return false }
        switch (reading.collapseID, collapseID) {
        case (nil, nil): break
        case (let left?, let right?): guard left.isSame(as: right) else { return false }
        case (nil, _?), (_?, nil): return false
        }
        return self.payload.fits(payload, of: line)
    }
}

extension [GoodRequest] {
    /// Whether one of them is like a request; see `GoodRequest.isLike`.
    func hasOne(like reading: RequestReading, payload: Range<Int>, in line: [UInt8], app: String) -> Bool {
        contains { $0.isLike(reading, payload: payload, in: line, app: app) }
    }
}
