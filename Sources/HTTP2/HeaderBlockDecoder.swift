/// Decodes header blocks (RFC 7541) into fields. A connection has exactly one, because blocks depend on earlier ones.
package protocol HeaderBlockDecoder: AnyObject {
    /// Decodes one complete block and appends its fields to `fields`, which may hold the fields of earlier blocks.
    ///
    /// The caller passes every block in the order of arrival, including those of closed streams.
    ///
    /// - Throws: The fault of the block. Some of its fields may have been added.
    func decode(_ block: Span<UInt8>, into fields: inout HeaderFields) throws(HeaderBlockFault)
}

/// The reason why a header block could not be used.
package enum HeaderBlockFault: Error, Hashable, Sendable {
    /// The block violates RFC 7541. The connection must end, because the tables of the two sides may no longer agree.
    case malformed
    /// The fields exceed the size limit. The decoder read the complete block, so only the stream must end.
    case tooLarge
}
