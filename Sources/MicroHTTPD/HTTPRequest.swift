import CMicroHTTPD

/// A request of a client over HTTP/1.1, until its answer has been sent.
///
/// Belongs to an `HTTPServer`, and is used only where that is.
@safe package final class HTTPRequest {
    /// Its number, from 1 in the order of arrival.
    package let number: Int
    /// The method, such as `POST`.
    package let method: String
    /// The path, with percent signs decoded.
    package let path: String
    /// The values of the query, by their names.
    package let query: [String: String]
    /// The header fields, by their names in lowercase, without white space around the values. Values of one name are joined with
    /// a comma.
    package let fields: [String: String]
    /// The bytes of the body that have arrived since they were last taken.
    package internal(set) var body: [UInt8] = []
    /// The bytes of the body that have arrived in all.
    package internal(set) var bodyByteCount = 0

    let connection: OpaquePointer
    /// Libmicrohttpd asks for the rest of an answer's body also while the server is being released.
    unowned(unsafe) let server: HTTPServer
    var state = State.reading(limit: 0)
    var response: HTTPResponse?
    /// What is to be sent of the response's body, and how much of it has been.
    var outgoing: [UInt8] = []
    var outgoingOffset = 0
    var hasAllOutgoing = true
    /// Whether libmicrohttpd may not find the end of the body: the answer does not wait for it.
    var isMalformed = false
    /// Whether the connection must end without the rest of the body.
    var isBroken = false
    /// Whether the connection is suspended.
    var isSuspended = false

    enum State {
        /// The body is arriving; of it, at most so many bytes are kept at a time.
        case reading(limit: Int)
        /// The rest of the body is read and forgotten, because the answer is known already.
        case discarding
        /// The whole request has arrived, and there is no answer yet.
        case waiting
        /// The answer was handed over.
        case answered
    }

    init(_ head: RequestHead, number: Int, of connection: OpaquePointer, _ server: HTTPServer) {
        (method, path, query, fields) = (head.method, head.path, head.query, head.fields)
        self.number = number
        unsafe self.server = server
        unsafe self.connection = connection
    }

    /// Takes what has arrived of the body.
    package func takeBody() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &body)
        return taken
    }

    /// The name and the password in the `Authorization` field, if it is of the scheme Basic (RFC 7617).
    package var basicCredentials: (name: String, password: String)? {
        var password: UnsafeMutablePointer<CChar>?
        guard let name = unsafe MHD_basic_auth_get_username_password(connection, &password) else { return nil }
        defer {
            unsafe MHD_free(name)
            unsafe MHD_free(password)
        }
        return unsafe (String(cString: name), password.map { unsafe String(cString: $0) } ?? "")
    }

    /// The length of the body, if the client announced it.
    package var announcedByteCount: Int? { fields["content-length"].flatMap { Int($0) } }
}

/// An answer to a request over HTTP/1.1.
package struct HTTPResponse: Sendable {
    /// The status.
    package var status: Int
    /// The header fields. Length and date are added.
    package var fields: [(name: String, value: String)] = []
    /// The body, or its beginning.
    package var body: [UInt8]
    /// Whether more of the body follows, by `HTTPServer.send`.
    package var isStream = false
    /// Whether the connection ends with the answer.
    package var closesConnection = false

    /// Creates an answer.
    package init(status: Int, contentType: String? = nil, body: [UInt8] = []) {
        (self.status, self.body) = (status, body)
        if let contentType { fields.append(("Content-Type", contentType)) }
    }
}
