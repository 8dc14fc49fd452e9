package import APNSModel
import Document
package import Gateways
import LinuxIO
import PushModel
import SpoolModel

extension AppConfiguration {
    /// Where an app's broadcasts go.
    package struct Broadcasts: Hashable, Sendable {
        /// The gateway.
        package var endpoint: Endpoint
        /// The host of the channel management.
        package var channelEndpoint: Endpoint
        /// The app's channels, by name.
        package var channels: [String: BroadcastChannel] = [:]

        /// Broadcasts by Apple's own gateway.
        init(_ environment: Environment) {
            let domain = "\(environment.hostInfix)push.apple.com"
            endpoint = Endpoint(HostPort(host: "api-broadcast.\(domain)", port: 443))
            let port: UInt16 = environment == .sandbox ? 2195 : 2196
            channelEndpoint = Endpoint(HostPort(host: "api-manage-broadcast.\(domain)", port: port))
        }
    }

    /// Reads the names of an app's broadcast channels: a base64 id for each, or `{id: …, policy: none | latest}`.
    ///
    /// - Parameters:
    ///   - node: The mapping from names.
    ///   - path: The path of its key; empty for a document of its own.
    ///   - report: Receives the faults.
    /// - Returns: The channels by name, without faulty ones.
    static func readChannels(_ node: Node, path: String, report: inout Report) -> [String: BroadcastChannel] {
        let names = Fields(node, path: path, report: report)
        report = names.report
        var channels: [String: BroadcastChannel] = [:]
        for member in node.members {
            let name = member.key.text
            if AppName.isValid(name) {
                channels[name] = channel(member.value, path: names.path(of: name), report: &report)
            } else {
                let fault = Diagnostic(
                    "is not a valid name for a channel", hint: "use \(AppName.rule)", at: member.key.place)
                report.add(fault.about(names.path(of: name)))
            }
        }
        return channels
    }

    /// What `channels` takes.
    static let channelsShape = Shape.map(.any([.text(), .object(Fields.sketch { readChannel(&$0) })]))

    private static func channel(_ node: Node, path: String, report: inout Report) -> BroadcastChannel? {
        guard node.kind == .mapping else {
            return id(node, path: path, report: &report).map { BroadcastChannel(id: $0) }
        }
        var fields = Fields(node, path: path, report: report)
        let (idNode, policy) = readChannel(&fields)
        report = fields.finish()
        return idNode.flatMap { id($0, path: "\(path).id", report: &report) }.map {
            BroadcastChannel(id: $0, policy: policy)
        }
    }

    private static func readChannel(_ fields: inout Fields) -> (id: Node?, policy: MessageStoragePolicy?) {
        fields.require("id", hint: "write the base64 id that `pushspool channel create` printed")
        return (fields.value("id"), fields.choice("policy", of: PolicyWord.self)?.policy)
    }

    private static func id(_ node: Node, path: String, report: inout Report) -> ChannelID? {
        if let id = node.string.flatMap({ ChannelID($0) }) { return id }
        let hint = "write the base64 text as Apple returned it, with its padding"
        report.add(Diagnostic("is not a channel's id", hint: hint, at: node.place).about(path))
        return nil
    }
}

/// The words for what Apple stores of a channel, in files and on the command line.
package enum PolicyWord: String, CaseIterable, Sendable {
    /// Nothing.
    case none
    /// The latest broadcast.
    case latest

    /// Creates the word for a policy.
    package init(_ policy: MessageStoragePolicy) {
        switch policy {
        case .nothing: self = .none
        case .latest: self = .latest
        }
    }

    /// The policy.
    package var policy: MessageStoragePolicy {
        switch self {
        case .none: .nothing
        case .latest: .latest
        }
    }
}
