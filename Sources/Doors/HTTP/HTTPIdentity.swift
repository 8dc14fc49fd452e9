import DoorModel
import MicroHTTPD
import OpenSSL

extension ProducerBook {
    /// Returns the producer that a request proves to come from: by a bearer token (RFC 6750), or by its name and the token as
    /// a password (RFC 7617).
    func producer(behind request: HTTPRequest) -> Producer? {
        guard let field = request.fields["authorization"] else { return nil }
        if let token = BearerText.token(in: field) { return producer(bearing: Digest.sha256(token.span)) }
        guard let (name, password) = request.basicCredentials else { return nil }
        let found = producer(bearing: Digest.sha256(Array(password.utf8).span))
        return found?.name == name ? found : nil
    }
}

extension HTTPRequest {
    /// The media type of the body, without parameters, in lowercase; empty if there is none.
    var mediaType: String {
        fields["content-type"].map { $0.prefix { $0 != ";" }.lowercased().filter { $0 != " " } } ?? ""
    }

    /// Refuses a body that is compressed or encoded otherwise (RFC 9110 §8.4).
    ///
    /// - Throws: The problem.
    func requirePlainBody() throws(APIProblem) {
        guard let coding = fields["content-encoding"]?.lowercased(), !["", "identity"].contains(coding) else { return }
        throw APIProblem(415, "the body has a Content-Encoding", remedy: "send it without compression")
    }
}

extension HTTPResponse {
    /// Creates the answer for a problem.
    init(_ problem: APIProblem) {
        self.init(status: problem.status, contentType: APIProblem.contentType, body: problem.json)
        if let seconds = problem.retryAfter { fields.append(("Retry-After", String(seconds))) }
        if let methods = problem.allowed { fields.append(("Allow", methods)) }
        // RFC 9110 §15.5.16: what would be accepted.
        if problem.status == 415 { fields.append(("Accept-Encoding", "identity")) }
        if problem.status == 401 { fields.append(("WWW-Authenticate", "Bearer realm=\"pushspool\"")) }
    }
}

/// The memory for the bodies of requests that must be complete before they can be read.
struct BodyBudget {
    private var held: [Int: Int] = [:]
    private var total = 0

    /// The bytes for all requests of a door.
    private static let limit = 64 << 20

    /// Reserves memory for a request.
    ///
    /// - Returns: Whether there is enough.
    mutating func reserve(_ byteCount: Int, for request: Int) -> Bool {
        // One alone may exceed it.
        guard total == 0 || total + byteCount <= Self.limit else { return false }
        held[request] = byteCount
        total += byteCount
        return true
    }

    /// Gives the memory of a request back.
    mutating func release(_ request: Int) { total -= held.removeValue(forKey: request) ?? 0 }
}
