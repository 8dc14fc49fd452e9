import Document
import PushModel

/// A call of pyapns' `notify(app_id, token or list, notification or list)`, as a job.
package struct Notify: Hashable, Sendable {
    /// The app. It may not exist.
    package let app: String
    /// The number of notifications. If it is 0, there is nothing to spool.
    package let count: Int
    /// The JSON document of the job: `tokens` with one `payload`, or with as many `payloads`.
    ///
    /// Payloads are not checked. Tokens are hexadecimal, without spaces.
    package let job: [UInt8]

    private static let form = "notify(app_id, token or list of tokens, notification or list of notifications)"

    /// Reads the parameters. One notification may go to many tokens; two lists must have the same length.
    ///
    /// The Ruby client sends one token as a string, with an array of one notification.
    ///
    /// - Throws: -32602 if a parameter is missing or of the wrong type, or the lists have different lengths; 500 if a token is not
    ///   hexadecimal, as for other faults of a token.
    init(_ parameters: CallParameters) throws(MethodFault) {
        try parameters.requireCount(3...3, of: Self.form)
        app = try parameters.text(0, "app_id")
        let tokens = try Self.tokens(parameters)
        let payloads = try Self.payloads(parameters)
        let isShared = parameters[2]?.kind == .mapping
        guard isShared || payloads.count == tokens.count else {
            throw .invalidParameters(
                "there are \(tokens.count) tokens and \(payloads.count) notifications; "
                    + "send lists of the same length, or one notification as a struct for all tokens")
        }
        count = tokens.count
        job = Self.document(tokens, payloads)
    }

    private static func tokens(_ parameters: CallParameters) throws(MethodFault) -> [Node] {
        let name = "token_or_token_list"
        guard let node = parameters[1] else { throw parameters.mismatch(name, "a string or an array", nil) }
        if node.kind == .string {
            try requireHexadecimal(node, name)
            return [node]
        }
        guard node.kind == .sequence else { throw parameters.mismatch(name, "a string or an array", node) }
        let tokens = Array(node.elements)
        for (index, token) in tokens.enumerated() {
            guard token.kind == .string else { throw parameters.mismatch("\(name)[\(index)]", "a string", token) }
            try requireHexadecimal(token, "\(name)[\(index)]")
        }
        return tokens
    }

    /// pyapns knows tokens in hexadecimal only; a job's may be base64, too.
    private static func requireHexadecimal(_ token: Node, _ name: String) throws(MethodFault) {
        let marks = "<> ".unicodeScalars
        let scalars = token.text.unicodeScalars
        guard
            let (index, stray) = scalars.enumerated().first(where: {
                !$1.properties.isASCIIHexDigit && !marks.contains($1)
            })
        else { return }
        throw .notAccepted(
            "\(name): must be hexadecimal; character \(index + 1) is \(FieldText.name(of: stray))")
    }

    private static func payloads(_ parameters: CallParameters) throws(MethodFault) -> [Node] {
        let name = "aps_dict_or_list"
        guard let node = parameters[2] else { throw parameters.mismatch(name, "a struct or an array", nil) }
        if node.kind == .mapping { return [node] }
        guard node.kind == .sequence else { throw parameters.mismatch(name, "a struct or an array", node) }
        let payloads = Array(node.elements)
        for (index, payload) in payloads.enumerated() where payload.kind != .mapping {
            throw parameters.mismatch("\(name)[\(index)]", "a struct", payload)
        }
        return payloads
    }

    private static func document(_ tokens: [Node], _ payloads: [Node]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("tokens")
        writer.beginArray()
        for token in tokens { writer.string(utf8: token.bytes.filter { $0 != UInt8(ascii: " ") }[...]) }
        writer.endArray()
        writer.key(payloads.count == 1 ? "payload" : "payloads")
        if payloads.count != 1 { writer.beginArray() }
        for payload in payloads { writer.raw(payload.raw) }
        if payloads.count != 1 { writer.endArray() }
        writer.endObject()
        return writer.bytes
    }
}
