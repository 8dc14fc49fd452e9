import Document
import FCMModel
import PushModel

/// An FCM message given by shorthands: what each contributes to the members of the message, in a fixed order.
struct MessageShorthands: Hashable, Sendable {
    /// What one shorthand contributes: entries of objects, without their braces.
    struct Fragment: Hashable, Sendable {
        /// Entries of `notification`, and the bytes of their text.
        private(set) var notification: [UInt8] = []
        private(set) var textByteCount = 0
        /// Entries of `android.notification`.
        private(set) var android: [UInt8] = []
        /// Entries of `data`, and the bytes of their keys and values.
        var data: [UInt8] = []
        var dataByteCount = 0

        /// Adds an entry of `notification`, whose value has `byteCount` bytes of text.
        mutating func addNotification(_ name: String, _ json: [UInt8], byteCount: Int) {
            notification.append(entry: name, json)
            textByteCount += byteCount
        }

        /// Adds an entry of `android.notification`.
        mutating func addAndroid(_ name: String, _ json: [UInt8]) { android.append(entry: name, json) }

        /// The number of bytes.
        var byteCount: Int { notification.count + android.count + data.count }
    }

    /// The shorthands in the order of the output.
    private static let order: [JobKey] = [
        .alert, .image, .custom, .badge, .sound, .channelID, .tag, .icon, .color, .clickAction,
    ]

    private var fragments = [Fragment?](repeating: nil, count: MessageShorthands.order.count)

    /// The bytes of all values.
    var byteCount: Int { fragments.reduce(0) { $0 + ($1?.byteCount ?? 0) } }

    mutating func set(_ key: JobKey, _ fragment: Fragment) {
        guard let position = Self.order.firstIndex(of: key) else {
            preconditionFailure("\(key.rawValue) has no place in MessageShorthands.order")
        }
        fragments[position] = fragment
    }

    /// Returns these shorthands, replaced by those of `other` where it has them.
    func overlaid(by other: MessageShorthands) -> MessageShorthands {
        var shorthands = self
        for (position, fragment) in other.fragments.enumerated() where fragment != nil {
            shorthands.fragments[position] = fragment
        }
        return shorthands
    }

    /// The members of the message: those that any shorthand contributes to.
    var members: [MessageMember] {
        var whole = (notification: [UInt8](), android: [UInt8](), data: [UInt8]())
        var facts = (text: 0, data: 0)
        for fragment in fragments.compactMap(\.self) {
            whole.notification.append(entries: fragment.notification)
            whole.android.append(entries: fragment.android)
            whole.data.append(entries: fragment.data)
            facts = (facts.text + fragment.textByteCount, facts.data + fragment.dataByteCount)
        }
        var members: [MessageMember] = []
        if !whole.notification.isEmpty {
            let facts = MessageFacts(textByteCount: facts.text)
            members.append(MessageMember(.notification, entries: whole.notification, facts: facts))
        }
        if !whole.data.isEmpty {
            members.append(MessageMember(.data, entries: whole.data, facts: MessageFacts(dataByteCount: facts.data)))
        }
        if !whole.android.isEmpty {
            let notification = [UInt8(ascii: "{")] + whole.android + [UInt8(ascii: "}")]
            var entries: [UInt8] = []
            entries.append(entry: "notification", notification)
            members.append(MessageMember(.android, entries: entries))
        }
        return members
    }
}

extension [UInt8] {
    /// Appends an entry of an object: a name that needs no escapes, and a value; and a comma before it if others precede it.
    mutating func append(entry name: String, _ json: [UInt8]) {
        if !isEmpty { append(UInt8(ascii: ",")) }
        append(UInt8(ascii: "\""))
        append(contentsOf: name.utf8)
        append(contentsOf: "\":".utf8)
        append(contentsOf: json)
    }

    /// Appends entries of an object, and a comma between them and those that precede them.
    mutating func append(entries: [UInt8]) {
        if !isEmpty, !entries.isEmpty { append(UInt8(ascii: ",")) }
        append(contentsOf: entries)
    }
}
