import APNSModel
import Document
import PushModel

/// The answer to an XML-RPC call of pyapns.
package enum MethodResponse: Hashable, Sendable {
    /// The call was carried out and returns nothing: `<nil/>`, as Twisted wrote it and pyapns' clients read it.
    case nothing
    /// The tokens that are gone: an array of arrays of a `dateTime.iso8601` in UTC and the token in lower-case hexadecimal.
    case feedback([LostToken])
    /// The call failed.
    case fault(MethodFault)

    /// The XML, in UTF-8.
    package var bytes: [UInt8] {
        var xml = Array("<?xml version=\"1.0\"?>\n<methodResponse>".utf8)
        switch self {
        case .nothing: Self.append(["<params><param><value><nil/></value></param></params>"], to: &xml)
        case .feedback(let tokens):
            Self.append(["<params><param><value><array><data>"], to: &xml)
            for token in tokens { Self.append(token, to: &xml) }
            Self.append(["</data></array></value></param></params>"], to: &xml)
        case .fault(let fault):
            Self.append(
                ["<fault><value><struct><member><name>faultCode</name><value><int>", "\(fault.code)"], to: &xml)
            Self.append(["</int></value></member><member><name>faultString</name><value><string>"], to: &xml)
            Self.append(escaped: fault.text, to: &xml)
            Self.append(["</string></value></member></struct></value></fault>"], to: &xml)
        }
        Self.append(["</methodResponse>\n"], to: &xml)
        return xml
    }

    private static func append(_ gone: LostToken, to xml: inout [UInt8]) {
        // 20261127T03:30:00: RFC 3339 without hyphens, fraction and zone.
        let time = gone.time.rfc3339.prefix(19).filter { $0 != "-" }
        append(["<value><array><data><value><dateTime.iso8601>", time], to: &xml)
        append(["</dateTime.iso8601></value><value><string>"], to: &xml)
        xml.appendHexadecimal(gone.token.bytes[...])
        append(["</string></value></data></array></value>"], to: &xml)
    }

    private static func append(_ pieces: [String], to xml: inout [UInt8]) {
        for piece in pieces { xml.append(contentsOf: piece.utf8) }
    }

    /// Appends text with references for markup, and U+FFFD for characters that XML does not allow.
    private static func append(escaped text: String, to xml: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": xml.append(contentsOf: "&amp;".utf8)
            case "<": xml.append(contentsOf: "&lt;".utf8)
            case ">": xml.append(contentsOf: "&gt;".utf8)
            // A parser would read a bare one as a line feed.
            case "\r": xml.append(contentsOf: "&#13;".utf8)
            case "\t", "\n", "\u{20}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                xml.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
            default: xml.append(contentsOf: "\u{FFFD}".utf8)
            }
        }
    }
}
