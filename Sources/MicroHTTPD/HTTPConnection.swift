import Glibc

/// A connection of a client, and since when the client keeps the server waiting.
final class HTTPConnection {
    let number: Int
    /// Whether no request has begun since the last one ended.
    var isIdle = true
    /// The target of its next request, as the client spelled it.
    var target = ""
    private let descriptor: Int32
    /// `nil`: it is the server's turn.
    private var since: Int?

    init(number: Int, descriptor: Int32, since: Int) {
        (self.number, self.descriptor, self.since) = (number, descriptor, since)
    }

    /// Lets the client's time begin anew.
    func begin(at now: Int) { since = now }

    /// Stops the client's time.
    func pause() { since = nil }

    /// Ends the connection if its client has taken since before `time`.
    func cutOff(before time: Int) {
        if let since, since < time { cutOff() }
    }

    /// Ends the connection. Libmicrohttpd notices, and closes it.
    func cutOff() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
