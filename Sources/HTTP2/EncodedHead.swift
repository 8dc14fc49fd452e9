/// A header block ready to be sent, once or many times.
package struct EncodedHead: Hashable, Sendable {
    /// The block (RFC 7541), with zeros in the holes.
    package var bytes: [UInt8] = []
    /// Where the bytes of each hole begin in `bytes`, in the order of the fields.
    package var holes: [Int] = []
    /// The encoder's revision after this block. May be sent again while the encoder still has it.
    package var revision = 0
    /// Whether the block leaves the peer's table as it is. If not, send it exactly once, before any other block, and
    /// encode again.
    package var isRepeatable = true

    /// Creates an empty block.
    package init() {}
}
