import HTTP2
import PushModel

/// Caches the head of the latest requests: batches of one job share theirs, and building a head costs more than a
/// request.
struct HeadCache: Sendable {
    private struct Key: Hashable, Sendable {
        let attributes: Attributes
        let channel: String?
        let measures: RequestFields.Measures
        let sender: RequestFields.Sender
    }

    private var key: Key?
    private var head: RequestHead?
    private var encoded: EncodedHead?

    /// The encoded head of requests like the first of a batch, with these measures, for the current state of the peer's table.
    mutating func encoded(
        for batch: Batch, _ measures: RequestFields.Measures, from sender: RequestFields.Sender,
        by encoder: inout HeaderEncoder
    ) -> EncodedHead {
        let (attributes, channel) = (batch.attributes, Self.channel(of: batch))
        let wanted = Key(attributes: attributes, channel: channel, measures: measures, sender: sender)
        let isKnown = key == wanted
        if isKnown, let encoded, encoded.isRepeatable, encoded.revision == encoder.revision { return encoded }
        let known = isKnown ? head : nil
        let head = known ?? RequestFields.head(attributes, channel: channel, measures, from: sender)
        let encoded = encoder.encode(head)
        (key, self.head, self.encoded) = (wanted, head, encoded)
        return encoded
    }

    /// Returns the channel that a broadcast goes to; `nil` for notifications to devices, whose heads have a hole for the token.
    private static func channel(of batch: Batch) -> String? {
        guard batch.attributes.addressKind == .channel else { return nil }
        return String(decoding: batch.addressBytes(at: batch.indices.lowerBound), as: UTF8.self)
    }
}
