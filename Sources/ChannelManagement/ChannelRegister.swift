import APNSHTTP2
package import APNSModel
package import Configuration
import Gateways
package import LinuxIO
import PushHTTP2
import PushModel
import SpoolModel

/// An app's broadcast channels: those that the gateway has, and their names in the app's files.
package struct ChannelRegister {
    /// A channel, as far as the files and the gateway know it.
    package struct Entry: Hashable, Sendable {
        /// The name in the app's files, if it has one.
        package let name: String?
        /// The channel, with its policy as far as it is known.
        package let channel: BroadcastChannel
        /// Whether the gateway has it.
        package let isRegistered: Bool

        /// Creates an entry.
        package init(name: String?, channel: BroadcastChannel, isRegistered: Bool) {
            (self.name, self.channel, self.isRegistered) = (name, channel, isRegistered)
        }
    }

    /// What deleting a channel did.
    package struct Deletion: Hashable, Sendable {
        /// The channel, which the gateway no longer has, and the name that it had.
        package let entry: Entry
        /// Whether the gateway still had it.
        package let wasRegistered: Bool
        /// Whether the app's own file, which no command changes, still names it.
        package let isStillNamed: Bool
    }

    private let app: ConfiguredApp
    private let file: ChannelFile
    private let service: ChannelService

    /// The most attempts at one request, and the pause between them.
    private static let (attemptLimit, pause) = (3, Duration.seconds(1))
    /// The most channels of unknown origin that are looked at.
    private static let candidateLimit = 100

    /// Creates the register of an app.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - folder: The folder of the apps' files.
    ///   - reactor: The reactor of the connection to the gateway.
    /// - Throws: `ChannelFault`: the app cannot have channels.
    package init(_ app: ConfiguredApp, folder: String, on reactor: Reactor) throws(ChannelFault) {
        guard let service = app.channelService(on: reactor) else {
            let isBinary = app.configuration.binary != nil
            throw ChannelFault(
                .configuration,
                isBinary ? "an app with protocol: binary has no channels" : "the app's bundle identifier is not known",
                hint: isBinary ? "use an app with protocol: http2" : "write topic: with the app's bundle identifier")
        }
        (self.app, self.service) = (app, service)
        file = ChannelFile(app: app.name, folder: folder)
    }

    /// Closes the connection to the gateway.
    package func close() async { await service.close() }

    /// Creates a channel and gives it a name. If the name has a channel already, returns that one.
    ///
    /// A request whose answer is lost may have been carried out. The ids of all channels are therefore recorded before it;
    /// afterwards, also by the next command if this one is killed, a new channel in the list is taken for the one asked for.
    ///
    /// - Returns: The channel, and whether it is new.
    /// - Throws: `ChannelFault`; `CancellationError`.
    package func create(
        _ name: String, _ policy: MessageStoragePolicy
    ) async throws -> (channel: BroadcastChannel, isNew: Bool) {
        guard AppName.isValid(name) else {
            throw ChannelFault(.input, "\(name) is not a valid name for a channel", hint: "use \(AppName.rule)")
        }
        var book = try await ChannelBook(file)
        let found = try await settle(&book)
        if let channel = book.channels[name] ?? names[name] {
            guard channel.policy ?? policy == policy else {
                throw ChannelFault(
                    .input, "the channel \(name) exists with the other policy, and a policy cannot be changed",
                    hint: "choose another name, or delete the channel first")
            }
            return (channel, found == name)
        }
        for attempt in 1... {
            do {
                let channel = try await request(name, policy, &book)
                return (channel, true)
            } catch let fault as RequestFault {
                guard attempt < Self.attemptLimit else { throw ChannelFault(fault) }
                try await Task.sleep(for: Self.pause)
                if try await settle(&book) == name, let channel = book.channels[name] { return (channel, true) }
            }
        }
        preconditionFailure("an attempt is the last")
    }

    /// Lists the channels of the gateway and of the app's files: those with names first, in their order.
    ///
    /// - Throws: `ChannelFault`; `CancellationError`.
    package func list() async throws -> [Entry] {
        let ids = try await ids()
        let registered = Set(ids)
        let named = names.sorted { $0.key < $1.key }.map { name, channel in
            Entry(name: name, channel: channel, isRegistered: registered.contains(channel.id))
        }
        let known = Set(names.values.map(\.id))
        let others = ids.filter { !known.contains($0) }.map {
            Entry(name: nil, channel: BroadcastChannel(id: $0), isRegistered: true)
        }
        return named + others
    }

    /// Reads a channel's properties at the gateway.
    ///
    /// - Parameter word: The channel's name or id.
    /// - Returns: The channel with its policy; the policy is `nil` if this version does not know it.
    /// - Throws: `ChannelFault`; `CancellationError`.
    package func show(_ word: String) async throws -> Entry {
        let (name, id) = try find(word)
        guard case .properties(let policy) = try await answer(to: .read(id)) else { throw Self.surprise }
        return Entry(name: name, channel: BroadcastChannel(id: id, policy: policy), isRegistered: true)
    }

    /// Deletes a channel at the gateway, and its names in the channel file.
    ///
    /// - Parameter word: The channel's name or id.
    /// - Returns: What was deleted.
    /// - Throws: `ChannelFault`; `CancellationError`.
    package func delete(_ word: String) async throws -> Deletion {
        var book = try await ChannelBook(file)
        let (name, id) = try find(word)
        let reply = try await reply(to: .delete(id))
        if case .refused(let refusal) = reply, refusal.reason != .channelNotRegistered || name == nil {
            throw ChannelFault(refusal)
        }
        let isStillNamed = names.contains { $0.value.id == id && book.channels[$0.key]?.id != id }
        try book.forget(id)
        let entry = Entry(name: name, channel: BroadcastChannel(id: id), isRegistered: false)
        return Deletion(entry: entry, wasRegistered: reply == .deleted, isStillNamed: isStillNamed)
    }

    // MARK: Creating

    /// Requests a channel.
    ///
    /// - Throws: `RequestFault.unanswered` if it may have been created: the record remains. Otherwise
    ///   `ChannelFault`; `CancellationError`.
    private func request(
        _ name: String, _ policy: MessageStoragePolicy, _ book: inout ChannelBook
    ) async throws -> BroadcastChannel {
        try book.begin(PendingChannel(name: name, policy: policy, known: Set(try await ids())))
        let reply: ChannelReply
        do {
            reply = try await service.answer(to: .create(policy))
        } catch RequestFault.unreached(let fault) {
            try book.end()
            throw ChannelFault(.unreached(fault))
        }
        switch reply {
        case .created(let id):
            let channel = BroadcastChannel(id: id, policy: policy)
            try book.set(name, channel)
            try book.end()
            return channel
        case .refused(let refusal) where refusal.status < 500:
            try book.end()
            throw ChannelFault(refusal)
        case .refused(let refusal):
            let fault = ChannelFault(refusal)
            throw RequestFault.unanswered(GatewayFault(fault.message, hint: fault.hint))
        case .unreadable(let why):
            throw RequestFault.unanswered(GatewayFault("the gateway's answer is not readable: \(why)"))
        case .properties, .deleted, .list: throw Self.surprise
        }
    }

    /// Looks up whether a creation without an answer took effect, and names its channel.
    ///
    /// - Returns: The name of the channel that was found; `nil` if there is none.
    private func settle(_ book: inout ChannelBook) async throws -> String? {
        guard let pending = try book.pending() else { return nil }
        let named = Set(book.channels.values.map(\.id)).union(names.values.map(\.id))
        let candidates = try await ids().filter { !pending.known.contains($0) && !named.contains($0) }
        var matching: [ChannelID] = []
        for id in candidates.prefix(Self.candidateLimit) {
            guard case .properties(let policy) = try await answer(to: .read(id)) else { throw Self.surprise }
            if policy == pending.policy { matching.append(id) }
        }
        guard matching.count < 2, candidates.count <= Self.candidateLimit else {
            throw ChannelFault(
                .input,
                "the answer to the creation of \(pending.name) was lost, and there are \(candidates.count) new channels: "
                    + candidates.prefix(3).map(\.text).joined(separator: ", "),
                hint: "write the right one into channels: of the app's file, and delete or name the others")
        }
        if let id = matching.first { try book.set(pending.name, BroadcastChannel(id: id, policy: pending.policy)) }
        try book.end()
        return matching.isEmpty ? nil : pending.name
    }

    // MARK: Requests

    private static let surprise = ChannelFault(.later, "the gateway answered another request", hint: nil)

    private func ids() async throws -> [ChannelID] {
        guard case .list(let ids) = try await answer(to: .list) else { throw Self.surprise }
        return ids
    }

    /// Makes an idempotent request, again if its answer is lost.
    ///
    /// - Throws: `ChannelFault` also if it is refused.
    private func answer(to request: ChannelRequest) async throws -> ChannelReply {
        let reply = try await reply(to: request)
        if case .refused(let refusal) = reply { throw ChannelFault(refusal) }
        return reply
    }

    private func reply(to request: ChannelRequest) async throws -> ChannelReply {
        precondition(request.isIdempotent, "a creation must be looked up before it is repeated")
        for attempt in 1... {
            do {
                let reply = try await service.answer(to: request)
                guard case .unreadable(let why) = reply else { return reply }
                let message = "the gateway's answer is not readable: \(why)"
                throw ChannelFault(.later, message, hint: "check channel_gateway")
            } catch let fault as RequestFault {
                guard case .unanswered = fault, attempt < Self.attemptLimit else { throw ChannelFault(fault) }
                try await Task.sleep(for: Self.pause)
            }
        }
        preconditionFailure("an attempt is the last")
    }

    // MARK: Names

    /// The channels of the app's files, by name.
    private var names: [String: BroadcastChannel] { app.configuration.channels }

    private func find(_ word: String) throws(ChannelFault) -> (name: String?, id: ChannelID) {
        if let channel = names[word] { return (word, channel.id) }
        guard let id = ChannelID(word) else {
            throw ChannelFault(
                .input, "no channel of \(app.name) is named \(word)",
                hint: "see `pushspool channel list --app \(app.name)`; an id is base64 with its padding")
        }
        return (names.first { $0.value.id == id }?.key, id)
    }
}
