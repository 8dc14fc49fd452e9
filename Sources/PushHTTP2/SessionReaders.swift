package import Document
package import HTTP2

/// The decoders of the gateway's bytes.
package struct SessionReaders<Parser: DocumentParser> {
    /// For header blocks.
    package let decoder: any HeaderBlockDecoder
    /// For bodies.
    package var parser: Parser

    /// Creates the readers of one connection.
    package init(decoder: any HeaderBlockDecoder, parser: Parser) {
        (self.decoder, self.parser) = (decoder, parser)
    }
}
