import APNSHTTP2
package import APNSModel
import Document
package import HTTP2
import PushModel

/// The values of a request's header fields, and the first error in them as Apple's gateway words it; reusable.
package struct RequestReading: Sendable {
    private var index = FieldIndex()
    /// The token's bytes, or the text of a broadcast's channel; empty if there is none that can be read.
    package private(set) var token: [UInt8] = []
    /// What the request is for.
    package private(set) var purpose = RequestPurpose.notification
    /// The push type, if it is one that is known.
    package private(set) var pushType: PushType?
    /// The value of `apns-topic`.
    package private(set) var topic: ArraySlice<UInt8>?
    /// The host that the client meant to reach, with a port if the client gave one.
    package private(set) var authority: ArraySlice<UInt8>?
    /// The value of `authorization`.
    package private(set) var authorization: ArraySlice<UInt8>?
    /// The value of `apns-id`, or of `apns-request-id` about a channel, if it is a UUID.
    package private(set) var id: ArraySlice<UInt8>?
    /// The value of `apns-expiration`, in seconds since 1970.
    package private(set) var expiry: UInt32?
    /// The value of `apns-priority`.
    package private(set) var priority: UInt8?
    /// The value of `apns-collapse-id`.
    package private(set) var collapseID: ArraySlice<UInt8>?
    /// An error in the method, the path or the token, or a repeated field. Takes precedence over the check of the
    /// client's identity.
    package private(set) var addressFault: Reason?
    /// An error in the other fields.
    package private(set) var headFault: Reason?
    /// The name of an unknown field that begins with `apns-`.
    package private(set) var strangeName: String?

    /// Whether tokens and ids may have capital digits.
    private let takesCapitals: Bool

    /// Creates the reading of no request.
    ///
    /// - Parameter takesCapitals: Whether tokens and ids may have capital digits, which Apple's gateway refuses.
    package init(takesCapitals: Bool = false) {
        self.takesCapitals = takesCapitals
    }

    /// Reads the head of a request.
    ///
    /// - Parameters:
    ///   - fields: Its fields.
    ///   - malformed: The name of a field that is not among them because its value is malformed (RFC 9113 §8.2.1).
    package mutating func read(_ fields: HeaderFields, malformed: String? = nil) {
        index.read(fields)
        token.removeAll(keepingCapacity: true)
        purpose = .notification
        (pushType, expiry, priority, collapseID) = (nil, nil, nil, nil)
        authorization = index.value(.authorization, in: fields)
        authority = index.value(.authority, in: fields)
        topic = index.value(.topic, in: fields)
        strangeName = index.strange.map { String(decoding: fields.name(at: $0), as: UTF8.self) }
        addressFault = faultOfAddress(in: fields)
        let fault = readRest(of: fields) ?? faultOfPurpose(in: fields)
        headFault = malformed.map(KnownField.reason(forMalformed:)) ?? fault
    }

    /// Whether the answer repeats `apns-request-id` instead of `apns-id`.
    package var isAboutChannel: Bool { purpose != .notification }

    private mutating func faultOfAddress(in fields: HeaderFields) -> Reason? {
        let path = index.value(.path, in: fields) ?? []
        let isPost = index.value(.method, in: fields)?.elementsEqual(Self.post) ?? false
        if path.starts(with: Self.managementStart) {
            let method = String(decoding: index.value(.method, in: fields) ?? [], as: UTF8.self)
            let text = String(decoding: path, as: UTF8.self)
            guard let place = ManagedPlace(path: text) else { return .badPath }
            guard let request = place.request(by: method) else { return .methodNotAllowed }
            purpose = .management(request)
            return index.hasRepeated ? .duplicateHeaders : nil
        }
        guard isPost else { return .methodNotAllowed }
        if path.starts(with: Self.broadcastStart), path.count > Self.broadcastStart.count {
            purpose = .broadcast(by: String(decoding: path.dropFirst(Self.broadcastStart.count), as: UTF8.self))
            return index.hasRepeated ? .duplicateHeaders : nil
        }
        guard path.starts(with: Self.pathStart) else { return .badPath }
        if let fault = readToken(path.dropFirst(Self.pathStart.count)) { return fault }
        return index.hasRepeated ? .duplicateHeaders : nil
    }

    private static let post = Array("POST".utf8)
    private static let pathStart = Array("/3/device/".utf8)
    private static let broadcastStart = Array("/4/broadcasts/apps/".utf8)
    private static let managementStart = Array(ChannelRequest.path.utf8)

    private mutating func faultOfPurpose(in fields: HeaderFields) -> Reason? {
        switch purpose {
        case .notification: nil
        case .broadcast: faultOfChannel(in: fields) ?? faultOfBroadcast
        case .management(let request): request.isAboutOne ? faultOfChannel(in: fields) : nil
        }
    }

    private mutating func faultOfChannel(in fields: HeaderFields) -> Reason? {
        guard let channel = index.value(.channelID, in: fields), !channel.isEmpty else { return .missingChannelID }
        guard ChannelID(String(decoding: channel, as: UTF8.self)) != nil else { return .badChannelID }
        token = Array(channel)
        return nil
    }

    /// What a broadcast needs beyond a notification to a device (Apple, "Sending broadcast push notification requests to APNs").
    private var faultOfBroadcast: Reason? {
        guard let pushType else { return .missingPushType }
        guard pushType == .liveactivity else { return .invalidPushType }
        return expiry == nil ? .badExpirationDate : nil
    }

    private mutating func readToken(_ digits: ArraySlice<UInt8>) -> Reason? {
        if digits.isEmpty { return .missingDeviceToken }
        guard digits.count <= 2 * DeviceToken.maximumByteCount else { return .badDeviceToken }
        token.reserveCapacity(digits.count / 2)
        var high: UInt8?
        var isLowercase = true
        for digit in digits {
            guard let value = hexValue(digit) else {
                return digits.contains(UInt8(ascii: "/")) ? .badPath : .badDeviceToken
            }
            if digit < 0x60, digit > 0x40 { isLowercase = false }
            if let first = high {
                token.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil && (isLowercase || takesCapitals) ? nil : .badDeviceToken
    }

    private mutating func readRest(of fields: HeaderFields) -> Reason? {
        id = index.value(isAboutChannel ? .requestID : .id, in: fields)
        if let text = id, !(takesCapitals ? NotificationID(text.span) != nil : Self.isCanonical(text)) {
            id = nil
            return isAboutChannel ? .badRequestParams : .badMessageID
        }
        let typeText = index.value(.pushType, in: fields)
        pushType = typeText.flatMap(Self.pushType)
        if typeText != nil, pushType == nil { return .invalidPushType }
        let expiryText = index.value(.expiration, in: fields)
        expiry = expiryText.flatMap(Self.number)
        if expiryText != nil, expiry == nil { return .badExpirationDate }
        let priorityText = index.value(.priority, in: fields)
        priority = priorityText.flatMap(Self.number).flatMap(UInt8.init(exactly:))
        if priorityText != nil, !isPriorityFit { return .badPriority }
        collapseID = index.value(.collapseID, in: fields)
        return collapseID?.count ?? 0 > 64 ? .badCollapseID : nil
    }

    /// 10, 5 or 1; a background push with priority 10 is an error.
    private var isPriorityFit: Bool {
        switch priority {
        case 10: pushType != .background
        case 5, 1: true
        default: false
        }
    }

    /// Whether the text is a UUID in lowercase, in the form 8-4-4-4-12.
    private static func isCanonical(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        for (place, sign) in text.enumerated() {
            let isHyphen = place == 8 || place == 13 || place == 18 || place == 23
            switch sign {
            case 0x30...0x39, 0x61...0x66: if isHyphen { return false }
            case 0x2D: if !isHyphen { return false }
            default: return false
            }
        }
        return true
    }

    private static func pushType(_ text: ArraySlice<UInt8>) -> PushType? {
        PushType(rawValue: String(decoding: text, as: UTF8.self))
    }

    /// Reads a number without sign, space or leading zero.
    private static func number(_ text: ArraySlice<UInt8>) -> UInt32? {
        guard let first = text.first, text.count == 1 || first != 0x30 else { return nil }
        var number: UInt32 = 0
        for digit in text {
            guard (0x30...0x39).contains(digit) else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowed) = product.addingReportingOverflow(UInt32(digit - 0x30))
            if overflow || overflowed { return nil }
            number = sum
        }
        return number
    }
}
