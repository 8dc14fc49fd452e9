import APNSModel
import Document
import PushModel

/// A device token with a number, in all spellings that the daemon accepts.
struct DemoToken: Hashable {
    let number: Int
    /// Whether it is a registration token of FCM's, and not a device token of Apple's.
    let isRegistration: Bool

    init(_ number: Int) {
        self.init(number, isRegistration: false)
    }

    init(_ number: Int, isRegistration: Bool) {
        (self.number, self.isRegistration) = (number, isRegistration)
    }

    /// The bytes of the token; those of its text if it is a registration token.
    var bytes: [UInt8] { isRegistration ? registration : noise }

    /// The usual spelling.
    var text: String { isRegistration ? String(decoding: registration, as: UTF8.self) : hex }

    /// An installation's ID of 22 characters, a colon, and more.
    private var registration: [UInt8] {
        var text: [UInt8] = []
        Base64.url.append(noise.prefix(16), to: &text)
        text += Array(":APA91b".utf8)
        Base64.url.append(noise, to: &text)
        return text
    }

    /// 32 pseudorandom bytes (SplitMix64), with the number in the last four.
    private var noise: [UInt8] {
        var bytes: [UInt8] = []
        var state = UInt64(number)
        for _ in 0..<4 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: mixed >> (shift * 8))) }
        }
        for index in 0..<4 { bytes[28 + index] = UInt8(truncatingIfNeeded: number >> (24 - index * 8)) }
        return bytes
    }

    /// The usual spelling in hexadecimal digits.
    var hex: String { DeviceToken(bytes: noise).hex }

    /// The spelling of a description of `NSData`: `<740f4707 bebcf74f …>`.
    var inBrackets: String {
        let digits = Array(hex)
        let groups = stride(from: 0, to: digits.count, by: 8).map { String(digits[$0..<$0 + 8]) }
        return "<" + groups.joined(separator: " ") + ">"
    }

    /// The spelling of JSON encoders for bytes.
    var base64: String {
        var text: [UInt8] = []
        Base64.standard.append(noise, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
