import FCMModel
import PushModel

/// The body of a request to FCM: a message with its address.
///
/// A payload is the members of the message, without braces and address, with `TimeToLive.mark` where the seconds belong that are
/// left until the expiration.
struct MessageBody: Sendable {
    /// What a body depends on apart from the payload.
    struct Form: Hashable, Sendable {
        /// The kind of the address.
        let kind: Address.Kind
        /// The length of the address.
        let addressByteCount: Int
        /// The seconds that are left.
        let life: Int64
    }

    private static let tail = Array("}}".utf8)

    /// The members of the message.
    let payload: ArraySlice<UInt8>
    let form: Form
    /// The bytes, and the offset of the address in them, where they have zeros.
    let parts: (body: [UInt8], addressOffset: Int?)

    /// Builds a body with room for the address.
    init(_ payload: ArraySlice<UInt8>, _ form: Form) {
        var body = Array("{\"message\":{\"\(form.kind.key)\":\"".utf8)
        let offset = body.count
        body.reserveCapacity(offset + form.addressByteCount + payload.count + 16)
        body.append(contentsOf: repeatElement(0, count: form.addressByteCount))
        body.append(UInt8(ascii: "\""))
        if !payload.isEmpty {
            body.append(UInt8(ascii: ","))
            Self.append(payload, life: form.life, to: &body)
        }
        body.append(contentsOf: Self.tail)
        (self.payload, self.form, parts) = (payload, form, (body, offset))
    }

    /// Returns the seconds that FCM is to keep a message: none for a single attempt, at most 28 days.
    static func life(until expiration: Expiration, at now: WallTime) -> Int64 {
        max(0, min(expiration.epochSeconds - now.epochSeconds, TimeToLive.longest.components.seconds))
    }

    private static func append(_ payload: ArraySlice<UInt8>, life: Int64, to body: inout [UInt8]) {
        var rest = payload
        while let mark = rest.firstIndex(of: TimeToLive.mark) {
            body.append(contentsOf: rest[..<mark])
            body.append(contentsOf: String(life).utf8)
            rest = rest[(mark + 1)...]
        }
        body.append(contentsOf: rest)
    }
}
