import CExpat

/// An error from libexpat, reworded for the author of the document.
struct SyntaxFault {
    let message: String
    let hint: String

    private init(_ message: String, _ hint: String) {
        (self.message, self.hint) = (message, hint)
    }

    /// Rewords an error from libexpat's code and the byte at its position.
    init(_ error: XML_Error, byte: UInt8?) {
        self =
            switch error {
            case XML_ERROR_INVALID_TOKEN: Self.token(byte)
            case XML_ERROR_NO_ELEMENTS: Self("the document is not complete", Self.whole)
            case XML_ERROR_SYNTAX: Self("this cannot stand outside of the root element", "send one XML document")
            case XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_UNCLOSED_CDATA_SECTION:
                Self("the document ends within a tag, comment or CDATA section", Self.whole)
            case XML_ERROR_PARTIAL_CHAR: Self("the document ends within a character", Self.whole)
            case XML_ERROR_TAG_MISMATCH:
                Self("the end tag does not match the start tag", "close elements in reverse order, by the same name")
            case XML_ERROR_DUPLICATE_ATTRIBUTE: Self("an attribute appears twice", "remove one")
            case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
                Self("something follows the end of the document", "send one document at a time")
            case XML_ERROR_UNDEFINED_ENTITY:
                Self("the entity is not defined", "use &lt; &gt; &amp; &apos; &quot; or a character reference")
            case XML_ERROR_BAD_CHAR_REF: Self("XML does not allow this character", "remove the reference")
            case XML_ERROR_MISPLACED_XML_PI:
                Self("the XML declaration is not at the start", "remove what stands before it")
            case XML_ERROR_XML_DECL: Self("the XML declaration is invalid", #"write <?xml version="1.0"?>"#)
            case XML_ERROR_UNKNOWN_ENCODING: Self("the encoding is not supported", Self.encodings)
            case XML_ERROR_INCORRECT_ENCODING: Self("the document is not in its declared encoding", Self.encodings)
            case XML_ERROR_NO_MEMORY: Self("not enough memory to read the document", "send less at a time")
            default: Self(Self.text(of: error), "send well-formed XML")
            }
    }

    private static let whole = "send the whole document"
    private static let encodings = "send it in UTF-8"

    /// Rewords the error of a byte that cannot stand where it does.
    private static func token(_ byte: UInt8?) -> Self {
        switch byte {
        case UInt8(ascii: "&"): Self("`&` does not start an entity", "write &amp;")
        case .some(let byte) where byte >= 0x80:
            Self("the byte 0x\(String(byte, radix: 16)) is not valid here", "send it in UTF-8, or declare its encoding")
        case .some(let byte) where byte < 0x20 || byte == 0x7F:
            Self("a control character is not allowed here", "remove it; XML has no way to write it")
        default: Self("this is not well-formed XML", "write &lt; for `<` in text, and quote attributes")
        }
    }

    private static func text(of error: XML_Error) -> String {
        unsafe XML_ErrorString(error).map { unsafe String(cString: $0) } ?? "libexpat reports error \(error.rawValue)"
    }
}
