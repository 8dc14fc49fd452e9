package import Document
import FCMModel
package import PushModel

/// The body of a request to send a message, and the error that refuses it in FCM's words; reusable.
///
/// As at Google, the JSON is checked against the types first, and each violation is listed; then FCM checks what the values
/// mean, and names the first that it does not take.
package struct MessageReading: Sendable {
    /// The target of the message, if it has exactly one.
    package private(set) var target: Address?
    /// Whether the message is only checked.
    package private(set) var isValidateOnly = false
    /// The error that refuses the message.
    package private(set) var fault: GoogleError?

    /// Creates the reading of no request.
    package init() {}

    /// Reads a body.
    package mutating func read(_ body: [UInt8], parser: inout some DocumentParser) {
        (target, isValidateOnly, fault) = (nil, false, nil)
        do throws(Diagnostic) {
            read(try parser.parse(body).root)
        } catch {
            fault = GoogleError(400, "Invalid JSON payload received. Unexpected token.\n\(error.message)")
        }
    }

    private mutating func read(_ request: Node) {
        var types = TypeCheck()
        let message = types.checkRequest(request)
        isValidateOnly = (request["validate_only"] ?? request["validateOnly"])?.boolean ?? false
        let targets = Self.targets.compactMap { name, kind -> Address? in
            message?[name]?.string.map { Address(kind, Array($0.utf8)[...]) }
        }
        if targets.count == 1 { target = targets[0] }
        fault = types.error ?? message.flatMap { faultOfMeaning(in: $0) } ?? (message == nil ? .recipientMissing : nil)
    }

    /// The members of a message of which exactly one is set: its `target`.
    static let targets: [(name: String, kind: Address.Kind)] = [
        ("token", .registrationToken), ("fid", .installation), ("topic", .topic), ("condition", .condition),
    ]

    private func faultOfMeaning(in message: Node) -> GoogleError? {
        var meaning = MeaningCheck()
        return faultOfTarget ?? meaning.fault(in: message)
    }

    private var faultOfTarget: GoogleError? {
        guard let target else { return .recipientMissing }
        let text = target.bytes.span
        switch target.kind {
        case .registrationToken:
            return AddressRule.registrationToken.fault(of: text).map { _ in .badRegistrationToken }
        case .installation: return AddressRule.installation.fault(of: text).map { _ in .unregistered }
        case .topic:
            let words = "Topic name contains invalid characters."
            return AddressRule.topic.fault(of: text).map { _ in .invalid("message.topic", words) }
        case .condition:
            do throws(TextFault) {
                _ = try TopicCondition(String(decoding: target.bytes, as: UTF8.self))
                return nil
            } catch {
                // FCM does not say what is wrong with a condition.
                return .invalidArgument
            }
        case .deviceToken, .channel: return nil
        }
    }
}

extension GoogleError {
    fileprivate static let recipientMissing = GoogleError.invalid("message", "Recipient of the message is not set.")

    fileprivate static let badRegistrationToken = GoogleError.invalid(
        "message.token", "The registration token is not a valid FCM registration token")

    /// Returns FCM's error about a field whose value has the right type.
    static func invalid(_ field: String, _ text: String) -> GoogleError {
        GoogleError(400, text, .badRequest([Violation(field, text)]), .fcm(.invalidArgument))
    }
}
