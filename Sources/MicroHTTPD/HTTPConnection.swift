import Glibc

/// A connection of a client, and since when the client keeps the server waiting.
final class HTTPConnection {
    let number: Int
    /// Whether no request has begun since the last one ended.
    var isIdle = true
    /// Whether a request has not arrived completely, or the next one has not begun.
    var awaitsRequest = true
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

    /// Ends the connection if its client has taken since before `time`, or has left amid a request.
    func cutOff(before time: Int) {
        guard let since else { return }
        if since < time || awaitsRequest && hasEnded { cutOff() }
    }

    /// Whether the client sends no more, and everything has been read. Libmicrohttpd misses the end of a stream that arrives
    /// together with bytes which do not fill its buffer.
    private var hasEnded: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }

    /// Ends the connection. Libmicrohttpd notices, and closes it.
    func cutOff() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
