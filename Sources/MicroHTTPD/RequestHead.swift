/// The head of a request, and why it must be refused before anybody acts on it.
///
/// A proxy in front of the door may read an ambiguous head otherwise than libmicrohttpd does, and then two requests can hide
/// in one (RFC 9112 §11.2). libmicrohttpd 0.9 takes most of them, so they are found here.
struct RequestHead {
    let method: String
    /// The path, with percent signs decoded.
    private(set) var path: String
    /// The values of the query, by their names.
    var query: [String: String] = [:]
    /// The header fields, by their names in lowercase, without white space around the values. Values of one name are joined with
    /// a comma.
    private(set) var fields: [String: String] = [:]
    /// Why the request must be refused.
    private(set) var fault: Fault?
    private let version: String

    /// The address of the head and its version, and the one behind the last part so far. Only compared: libmicrohttpd takes a
    /// head apart where it has arrived, so a gap between two parts shows what its functions do not return.
    var (start, versionStart, end) = (0, 0, 0)
    /// The length of the head with the empty line.
    var byteCount = 0
    private var isContiguous = true

    /// The status and the reason of a refusal.
    struct Fault {
        let status: Int
        let reason: String
    }

    /// The fields of which a request has at most one. A list of two of them would become a value that nobody sent.
    private static let single: Set<String> = [
        "authorization", "content-encoding", "content-length", "content-type", "host", "idempotency-key",
        "last-event-id",
        "transfer-encoding",
    ]

    init(method: String, version: String, path: String) {
        (self.method, self.version, self.path) = (method, version, path)
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value. libmicrohttpd removes white space only before it.
    ///   - place: The addresses where the name and the value begin and end.
    mutating func append(
        _ name: String, _ value: String, at place: (name: Int, nameEnd: Int, value: Int, valueEnd: Int)
    ) {
        // One line end before it, of one byte or two, and a colon behind it.
        isContiguous = isContiguous && (1...2).contains(place.name - end) && place.value > place.nameEnd
        end = place.valueEnd
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let bytes = value.utf8.drop(while: isBlank)
        let text = String(
            bytes.prefix(upTo: bytes.lastIndex { !isBlank($0) }.map(bytes.index(after:)) ?? bytes.startIndex))
        let key = name.lowercased()
        if !Self.isToken(name) || text?.utf8.contains(where: Self.isControl) != false {
            refuse(400, "a header field has a character that no field may have")
        } else if fields[key] != nil, Self.single.contains(key) {
            refuse(400, "the field \(key) is there twice")
        }
        fields[key] = fields[key].map { "\($0), \(text ?? "")" } ?? text ?? ""
    }

    /// Checks the head once all its fields are there.
    ///
    /// - Parameters:
    ///   - target: The target as the client spelled it.
    ///   - isInPlace: Whether the library takes heads apart where they have arrived.
    mutating func finish(target: String, isInPlace: Bool) {
        if isInPlace {
            // A space before and behind the target; the last line end and the empty line.
            let isWhole = versionStart - start == method.utf8.count + target.utf8.count + 2
            if !isWhole || !isContiguous || !(2...4).contains(start + byteCount - end) {
                refuse(400, "the head has a NUL, a folded field or a line without a name")
            }
        }
        if target.contains("%00") { refuse(400, "the target has a NUL") }
        readAbsoluteForm(target)
        guard let coding = fields["transfer-encoding"] else { return }
        if fields["content-length"] != nil || version == "HTTP/1.0" {
            refuse(400, "the length of the body is ambiguous")
        } else if coding.lowercased() != "chunked" {
            refuse(501, "of the transfer codings, only chunked is understood")
        }
    }

    /// Leaves only the path of a target that is a whole URI, as clients send it to proxies (RFC 9112 §3.2.2).
    private mutating func readAbsoluteForm(_ target: String) {
        guard let scheme = ["http://", "https://"].first(where: target.lowercased().hasPrefix) else { return }
        let authority = target.utf8.dropFirst(scheme.utf8.count).prefix { $0 != 0x2F && $0 != 0x3F }
        guard !authority.isEmpty, !authority.contains(UInt8(ascii: "%")) else {
            return refuse(400, "the target has no host")
        }
        path = String(decoding: path.utf8.dropFirst(scheme.utf8.count + authority.count), as: UTF8.self)
        if path.isEmpty { path = "/" }
    }

    private mutating func refuse(_ status: Int, _ reason: String) {
        fault = fault ?? Fault(status: status, reason: reason)
    }

    /// Whether a field may have this name (RFC 9110 §5.6.2).
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: signs.contains(byte)
                }
            }
    }

    private static let signs = Array("!#$%&'*+-.^_`|~".utf8)

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }
}
