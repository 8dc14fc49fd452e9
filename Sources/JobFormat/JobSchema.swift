import APNSModel
package import Document
import FCMModel
import PushModel

extension JSONSchema {
    /// The schema of a job that is one document, for either of Apple's protocols or for FCM. Its definitions also have the
    /// lines of a `.jsonl` file: a recipient, or a first line.
    package static var job: JSONSchema {
        let kinds: [(name: String, carrier: Carrier)] = [("APNsJob", .http2), ("FCMJob", .fcm)]
        var definitions: [(name: String, shape: Shape)] = []
        for (_, carrier) in kinds {
            let names = JobSchema(carrier)
            definitions += [
                (names.name("Job"), names.document), (names.name("Recipient"), names.shape(of: .recipient)),
                (names.name("FirstLine"), names.firstLine),
            ]
        }
        definitions += MessageType.allCases.map { ($0.schemaName, $0.shape) }
        return JSONSchema(
            "a job of pushspool, see pushspool-job(5)", .any(kinds.map { .defined($0.name) }), definitions: definitions)
    }
}

/// What the jobs of a carrier may contain.
private struct JobSchema {
    private let carrier: Carrier

    init(_ carrier: Carrier) { self.carrier = carrier }

    /// The name of a definition.
    func name(_ part: String) -> String { (carrier == .fcm ? "FCM" : "APNs") + part }

    /// A document: all in one mapping.
    var document: Shape {
        guard case .object(var object) = shape(of: .document) else { return .nothing }
        let recipients = JobKey.recipientForms.filter { $0.part(for: carrier) == .recipients }.map(\.rawValue)
        // Only lists of both kinds can be combined.
        if carrier == .fcm { object.choices = [recipients] } else { object.alternatives = [recipients] }
        return .object(object)
    }

    /// The first line of a `.jsonl` file.
    var firstLine: Shape {
        var object = ObjectShape([
            .init("job", shape(of: .jobOfLines)), .init("defaults", shape(of: .defaultsOfLines)),
        ])
        object.choices = [["job", "defaults"]]
        return .object(object)
    }

    /// A mapping in one of the places where keys may be.
    func shape(of scope: JobScope) -> Shape {
        var object = ObjectShape()
        for key in JobKey.allCases {
            for name in key.names(for: carrier) where scope.key(name, for: carrier) != nil {
                var member = ObjectShape.Member(name, shape(of: key), note: key.summary)
                member.standard = standard(of: key)
                object.members.append(member)
            }
        }
        if scope == .recipient {
            let addresses = [JobKey.token, .fid].filter { $0.part(for: carrier) != nil }.map(\.rawValue)
            object.alternatives = [addresses]
        }
        return .object(object)
    }

    private func standard(of key: JobKey) -> [UInt8]? {
        switch key {
        case .strict: Array("false".utf8)
        case .record: Array("\"\(JobHeader.Record.failures)\"".utf8)
        case .giveUpAfter: Array("\"\(DurationText.spelled(JobHeader.defaultGiveUpAfter))\"".utf8)
        case .expiration: Array("\"+\(DurationText.spelled(ExpirationText.defaultLifetime))\"".utf8)
        default: nil
        }
    }

    private func shape(of key: JobKey) -> Shape {
        switch key {
        case .token: address(.registrationToken)
        case .tokens: .list(address(.registrationToken), isNonEmpty: carrier != .fcm)
        case .fid: address(.installation)
        case .fids: .list(address(.installation))
        case .recipients: .list(.defined(name("Recipient")), isNonEmpty: true)
        case .payload: payload
        case .payloads: .list(payload, isNonEmpty: true)
        case .channel, .condition: .text()
        case .topic: carrier == .fcm ? address(.topic) : .lengths(1...PushTopic.byteLimit)
        case .id: .any([.lengths(1...JobHeader.longestRef), .integer(.min ... .max)])
        case .count: .integer(0 ... .max)
        case .strict: .boolean
        case .lane: .words(Lane.allCases.map(\.rawValue))
        case .record: .words(JobHeader.Record.allCases.map(\.rawValue))
        case .onDoubt: .words(OnDoubt.allCases.map(\.rawValue))
        case .notBefore: .any([.text(pattern: TimeText.pattern), .integer(TimeText.epochSeconds)])
        case .expiration: .any([.text(pattern: TimeText.pattern), .integer(TimeText.epochSeconds), .numbers([0])])
        case .giveUpAfter: .duration
        case .pushType: .words(PushType.allCases.map(\.rawValue))
        case .priority: priority
        case .collapseID: .any([.lengths(1...64), .integer(.min ... .max)])
        case .registeredAt: .text(pattern: TimeText.datePattern)
        case .apnsID: .text(pattern: "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$")
        case .alert: alert
        case .sound: carrier == .fcm ? .text() : .any([.text(), .map(.anything)])
        case .badge: .integer(carrier == .fcm ? 1...Int(Int32.max) : 0 ... .max)
        case .custom: .map(.anything)
        case .category, .threadID, .interruptionLevel: .text()
        case .contentAvailable, .mutableContent: .any([.boolean, .numbers([0, 1])])
        case .notification, .data, .android, .androidV2, .apns, .webpush, .fcmOptions:
            MessageType.message.field(named: key.rawValue)?.type.shape ?? .nothing
        case .image: MessageType.notification.field(named: key.rawValue)?.type.shape ?? .nothing
        case .tag, .icon, .color, .channelID, .clickAction:
            MessageType.androidNotification.field(named: key.rawValue)?.type.shape ?? .nothing
        }
    }

    private func address(_ rule: AddressRule) -> Shape {
        carrier == .fcm ? .lengths(rule.lengths) : .lengths(1 ... .max)
    }

    private var payload: Shape {
        .any([carrier == .fcm ? .defined(MessageType.message.schemaName) : .map(.anything), .text()])
    }

    private var alert: Shape {
        guard carrier == .fcm else { return .any([.text(), .map(.anything)]) }
        let keys = ShorthandReader.alertKeys.map { key, field in
            let type = field.isForAll ? MessageType.notification : .androidNotification
            return ObjectShape.Member(key.rawValue, type.field(named: field.name)?.type.shape ?? .nothing)
        }
        return .any([.text(), .object(ObjectShape(keys))])
    }

    private var priority: Shape {
        guard carrier == .fcm else { return .numbers(Priority.allCases.map { Int($0.rawValue) }) }
        return .any([.numbers([10, 5]), .words(["10", "5", "high", "normal"])])
    }
}

extension JobKey {
    /// The keys that say who gets a document.
    static let recipientForms: [JobKey] = [.token, .fid, .tokens, .fids, .recipients, .channel, .topic, .condition]

    /// The names of the key in jobs for the carrier: members of FCM's messages have two spellings.
    fileprivate func names(for carrier: Carrier) -> [String] {
        let other = carrier == .fcm ? MessageType.message.field(named: rawValue)?.jsonName : nil
        return [rawValue] + (other == rawValue ? [] : [other].compactMap(\.self))
    }
}

extension MessageType {
    /// The name of its definition.
    fileprivate var schemaName: String {
        let name = "\(self)"
        return "FCM" + name.prefix(1).uppercased() + name.dropFirst()
    }

    /// Its members, in both spellings.
    fileprivate var shape: Shape {
        .object(
            ObjectShape(
                fields.flatMap { field in
                    (field.name == field.jsonName ? [field.name] : [field.name, field.jsonName]).map {
                        ObjectShape.Member($0, field.type.shape)
                    }
                }))
    }
}

extension FieldType {
    /// What it takes.
    fileprivate var shape: Shape {
        switch self {
        case .scalar(let scalar): scalar.shape
        case .list(let scalar): .list(scalar.shape)
        case .data, .headers: .map(.text())
        case .object: .map(.anything)
        case .message(let type): .defined(type.schemaName)
        }
    }
}

extension ScalarType {
    fileprivate var shape: Shape {
        switch self {
        case .string, .timestamp: .text()
        case .boolean: .boolean
        case .int32: .any([.integer(Int(Int32.min)...Int(Int32.max)), .text(pattern: "^-?[0-9]+$")])
        case .fraction: .any([.number(0...1), .text(pattern: "^[-+.eE0-9]+$")])
        case .duration, .lifetime: .text(pattern: #"^[0-9]+(\.[0-9]{1,9})?s$"#)
        case .color: .text(pattern: "^#[0-9A-Fa-f]{6}$")
        case .analyticsLabel: .text(pattern: "^[-A-Za-z0-9_.~%]{1,50}$")
        case .link: .text(pattern: "^https://")
        case .choice(let choice): .any([.words(choice.words), .words(choice.words.map { $0.lowercased() })])
        }
    }
}
