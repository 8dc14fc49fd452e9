/// Turns header blocks (RFC 7541) into fields. The connection has one, because blocks build on each other.
package protocol HeaderBlockDecoder: AnyObject {
    /// Reads one whole block and adds its fields to `fields`, which may hold the fields of earlier blocks.
    ///
    /// Blocks come in the order of their arrival, and none is left out, not even those of streams that nobody waits for.
    ///
    /// - Throws: What is wrong with the block; some of its fields may have been added.
    func decode(_ block: Span<UInt8>, into fields: inout HeaderFields) throws(HeaderBlockFault)
}

/// Why a header block has no fields for us.
package enum HeaderBlockFault: Error, Hashable, Sendable {
    /// It breaks RFC 7541. The connection has to end, because the two ends may no longer agree.
    case malformed
    /// Its fields take more than we accept. The decoder read all of it, so only the stream has to end.
    case tooLarge
}
