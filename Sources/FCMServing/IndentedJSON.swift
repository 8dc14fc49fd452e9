/// JSON as Google's APIs write it unless `prettyPrint` is false.
package enum IndentedJSON {
    /// Returns compact JSON with a line for each member and element, and two spaces for each level.
    package static func bytes(ofCompact json: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        for (place, byte) in json.enumerated() {
            if isInString {
                bytes.append(byte)
                if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                bytes.append(byte)
                depth += 1
                if json[place + 1] != byte + 2 { bytes.append(lineAt: depth) }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if json[place - 1] != byte - 2 { bytes.append(lineAt: depth) }
                bytes.append(byte)
            case UInt8(ascii: ","):
                bytes.append(byte)
                bytes.append(lineAt: depth)
            case UInt8(ascii: ":"): bytes.append(contentsOf: ": ".utf8)
            default:
                bytes.append(byte)
                isInString = byte == UInt8(ascii: "\"")
            }
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(lineAt depth: Int) {
        append(UInt8(ascii: "\n"))
        append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }
}
