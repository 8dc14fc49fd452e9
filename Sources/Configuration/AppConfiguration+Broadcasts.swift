package import APNSGateway
package import APNSModel
import Document
import LinuxIO
import SpoolModel

extension AppConfiguration {
    /// Where an app's broadcasts go.
    package struct Broadcasts: Hashable, Sendable {
        /// The gateway.
        package var endpoint: Endpoint
        /// The app's channels, by name.
        package var channels: [String: BroadcastChannel] = [:]

        /// Broadcasts by Apple's own gateway.
        init(_ environment: Environment) {
            endpoint = Endpoint(HostPort(host: "api-broadcast.\(environment.hostInfix)push.apple.com", port: 443))
        }
    }

    /// Reads `broadcast_gateway` and `channels`. A gateway that is not Apple's serves broadcasts too, unless another is named.
    mutating func readBroadcasts(_ fields: inout Fields) {
        broadcasts = Broadcasts(environment)
        if let address = fields.address("broadcast_gateway", defaultPort: 443) {
            broadcasts.endpoint = Endpoint(address, serverName: fields.string("server_name"))
        } else if endpoint != Self.standardEndpoint(wire, environment) {
            broadcasts.endpoint = endpoint
        }
        readChannels(&fields)
    }

    /// Reads `channels`, the names of the app's broadcast channels: a base64 id for each, or `{id: …, policy: none | latest}`.
    private mutating func readChannels(_ fields: inout Fields) {
        fields.mapping("channels") { names in
            for member in names.node.members {
                let name = member.key.text
                names.allow(name)
                if AppName.isValid(name) {
                    broadcasts.channels[name] = Self.channel(name, &names)
                } else {
                    names.refuse(name, "is not a valid name for a channel", hint: "use \(AppName.rule)")
                }
            }
        }
    }

    private static func channel(_ name: String, _ names: inout Fields) -> BroadcastChannel? {
        guard names.value(name)?.kind == .mapping else { return id(name, &names).map { BroadcastChannel(id: $0) } }
        return names.mapping(name) { fields in
            fields.require("id", hint: "write the base64 id that `pushspool channel create` printed")
            let policy = fields.choice("policy", of: PolicyWord.self)?.policy
            return id("id", &fields).map { BroadcastChannel(id: $0, policy: policy) }
        } ?? nil
    }

    private static func id(_ key: String, _ fields: inout Fields) -> ChannelID? {
        guard let text = fields.string(key) else { return nil }
        if let id = ChannelID(text) { return id }
        let hint = "write the base64 text as Apple returned it, with its padding"
        fields.refuse(key, "is not a channel's id", hint: hint)
        return nil
    }

    /// The words for what Apple stores of a channel.
    private enum PolicyWord: String, CaseIterable {
        case none, latest

        var policy: MessageStoragePolicy {
            switch self {
            case .none: .nothing
            case .latest: .latest
            }
        }
    }
}
