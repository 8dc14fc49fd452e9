import FCMModel
import PushModel

/// The body of a request to FCM: a message with its address.
///
/// A payload is the members of the message, without braces and address, with `TimeToLive.mark` where the seconds belong that are
/// left until the expiration.
enum MessageBody {
    private static let tail = Array("}}".utf8)

    /// Returns the bytes before the address.
    private static func opening(_ kind: Address.Kind) -> [UInt8] { Array("{\"message\":{\"\(kind.key)\":\"".utf8) }

    /// Builds a body with room for the address.
    ///
    /// - Parameters:
    ///   - payload: The members of the message.
    ///   - kind: The kind of the address.
    ///   - addressByteCount: The length of the address.
    ///   - life: The seconds that are left.
    /// - Returns: The body, and the offset of the address in it, where it has zeros.
    static func body(
        _ payload: ArraySlice<UInt8>, to kind: Address.Kind, _ addressByteCount: Int, life: Int64
    ) -> (body: [UInt8], addressOffset: Int?) {
        var body = opening(kind)
        let offset = body.count
        body.reserveCapacity(offset + addressByteCount + payload.count + 16)
        body.append(contentsOf: repeatElement(0, count: addressByteCount))
        body.append(UInt8(ascii: "\""))
        if !payload.isEmpty {
            body.append(UInt8(ascii: ","))
            append(payload, life: life, to: &body)
        }
        body.append(contentsOf: tail)
        return (body, offset)
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
