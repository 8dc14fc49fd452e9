import FCMServing

/// Answers as Google's servers write them.
extension RequestAnswer {
    /// Creates the answer of an error.
    init(_ error: GoogleError, isIndented: Bool) {
        self = .json(error.code, error.json, isIndented)
        reason = error.reason
    }

    /// Returns an answer in JSON.
    static func json(_ status: Int, _ compact: [UInt8], _ isIndented: Bool = false) -> RequestAnswer {
        let json = isIndented ? IndentedJSON.bytes(ofCompact: compact) : compact
        var answer = RequestAnswer(status: status, text: String(decoding: json, as: UTF8.self))
        answer.contentType = "application/json; charset=UTF-8"
        return answer
    }

    /// Returns the front end's page for a status.
    static func page(_ status: Int, path: String = "/") -> RequestAnswer {
        .text(status, FrontEndPage.html(status, path: path))
    }

    /// Returns an answer with any text, which is HTML unless it begins like JSON.
    static func text(_ status: Int, _ text: String) -> RequestAnswer {
        var answer = RequestAnswer(status: status, text: text)
        answer.contentType = text.hasPrefix("{") ? "application/json; charset=UTF-8" : FrontEndPage.contentType
        return answer
    }
}
