import APNSModel
import HTTP2

/// Caches the head of the latest requests: batches of one job share theirs, and building a head costs more than a
/// request.
struct HeadCache: Sendable {
    private struct Key: Hashable, Sendable {
        let attributes: Attributes
        let measures: RequestFields.Measures
        let sender: RequestFields.Sender
    }

    private var key: Key?
    private var head: RequestHead?
    private var encoded: EncodedHead?

    /// The encoded head of requests with these attributes and measures, for the current state of the peer's table.
    mutating func encoded(
        _ attributes: Attributes, _ measures: RequestFields.Measures, from sender: RequestFields.Sender,
        by encoder: inout HeaderEncoder
    ) -> EncodedHead {
        let wanted = Key(attributes: attributes, measures: measures, sender: sender)
        let isKnown = key == wanted
        if isKnown, let encoded, encoded.isRepeatable, encoded.revision == encoder.revision { return encoded }
        let known = isKnown ? head : nil
        let head = known ?? RequestFields.head(attributes, measures, from: sender)
        let encoded = encoder.encode(head)
        (key, self.head, self.encoded) = (wanted, head, encoded)
        return encoded
    }
}
