import APNSModel
import Configuration
import Document
import JSON
import JobFormat
import PushModel

/// A channel that was requested and perhaps created: what it takes to find out when the answer was lost.
///
/// Kept in a file from before the request until its answer, so that a killed command is looked up by the next.
struct PendingChannel: Hashable {
    /// The name that the channel gets.
    let name: String
    /// What it stores.
    let policy: MessageStoragePolicy
    /// All channels that the app had before.
    let known: Set<ChannelID>

    /// The record: `{"name":"goals","policy":"latest","known":["dHN0…"]}`.
    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", name)
        writer.member("policy", PolicyWord(policy).rawValue)
        writer.key("known")
        writer.beginArray()
        for id in known.map(\.text).sorted() { writer.string(id) }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    init(name: String, policy: MessageStoragePolicy, known: Set<ChannelID>) {
        (self.name, self.policy, self.known) = (name, policy, known)
    }

    /// Reads a record.
    ///
    /// - Returns: `nil` if these bytes are none.
    init?(_ bytes: [UInt8]) {
        var parser = JSON.Parser()
        guard let root = (try? parser.parse(bytes))?.root, let name = root["name"]?.string,
            let policy = root["policy"]?.string.flatMap(PolicyWord.init(rawValue:))?.policy,
            let known = root["known"], known.kind == .sequence
        else { return nil }
        self.init(
            name: name, policy: policy,
            known: Set(known.elements.compactMap { $0.string.flatMap { ChannelID($0) } }))
    }
}
