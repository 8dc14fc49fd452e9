/// An encoded header block, to be sent once or many times.
package struct EncodedHead: Hashable, Sendable {
    /// The block (RFC 7541), with zeros in the holes.
    package var bytes: [UInt8] = []
    /// The offset of each hole in `bytes`, in the order of the fields.
    package var holes: [Int] = []
    /// The encoder's revision after this block. The block may be sent again while the encoder's revision is the same.
    package var revision = 0
    /// Whether the block leaves the peer's table unchanged. If not, send it exactly once, before any other block, and
    /// encode the head again.
    package var isRepeatable = true

    /// Creates an empty block.
    package init() {}
}
