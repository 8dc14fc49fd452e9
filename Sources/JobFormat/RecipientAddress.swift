import Document
import FCMModel
import PushModel

/// The address of a recipient that is a mapping.
struct RecipientAddress {
    /// The value as the user wrote it.
    let node: Node
    /// Its key.
    let key: JobKey
    /// What the address is.
    let kind: Address.Kind

    init(_ node: Node, _ key: JobKey, _ kind: Address.Kind) { (self.node, self.key, self.kind) = (node, key, kind) }
}

/// Where an address that is a recipient alone stands, and what it is.
struct AddressPlace {
    /// What the address is.
    let kind: Address.Kind
    /// The location of the recipient.
    let base: PathBase
    /// The key of the address there; empty if it has none.
    let key: String

    init(_ kind: Address.Kind, _ base: PathBase, key: String = "") {
        (self.kind, self.base, self.key) = (kind, base, key)
    }

    /// The path of the address.
    var path: String { base.path(of: key) }
}

extension Address.Kind {
    /// The syntax of an address that is one word of text; `nil` if it is not.
    var rule: AddressRule? {
        switch self {
        case .registrationToken: .registrationToken
        case .installation: .installation
        case .topic: .topic
        case .deviceToken, .channel, .condition: nil
        }
    }
}

extension AddressRule {
    /// Describes the fault of an address without quoting it.
    func diagnostic(for fault: Fault, at node: Node) -> Diagnostic {
        let message: String
        switch fault {
        case .empty: message = "the \(name) is empty"
        case .length(let count):
            let limits = lengths.count == 1 ? "\(lengths.lowerBound)" : "\(lengths.lowerBound) to \(lengths.upperBound)"
            message = "the \(name) has \(count) byte\(count == 1 ? "" : "s"); it must have \(limits)"
        case .stray(let scalar, let place):
            message = "the \(name)'s character \(place) is \(FieldText.name(of: scalar))"
        }
        return Diagnostic(message, hint: hint(for: node), at: node.place)
    }

    private var name: String {
        switch self {
        case .registrationToken: "token"
        case .installation: "fid"
        case .topic: "topic"
        }
    }

    private func hint(for node: Node) -> String {
        switch self {
        case .registrationToken: "pass the token exactly as the device sent it: letters, digits and \(otherCharacters)"
        case .installation:
            "pass the installation ID exactly as the device sent it: letters, digits and \(otherCharacters)"
        case .topic where node.text.hasPrefix("/topics/"): "write the name alone, without /topics/"
        case .topic: "use letters, digits and \(otherCharacters)"
        }
    }
}
