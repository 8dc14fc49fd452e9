package import Document
package import HTTP2
package import PushModel

/// What differs between gateways over HTTP/2: how requests are written, and what answers mean.
///
/// A session asks its dialect once for each write of up to a thousand requests, and once for each refusal.
package protocol RequestDialect: Sendable {
    /// The value of `authorization` in the next requests; `nil` if a certificate identifies the app.
    var authorization: String? { get set }
    /// For how long after the first request with one value of `authorization` the gateway takes no other on a connection.
    var leastAuthorizationPause: Duration { get }

    /// Returns the requests at the front of a batch, which is not empty, that differ only in the holes of their head
    /// and in the address in their body.
    mutating func run(of batch: Batch, at now: WallTime) -> RequestRun
    /// Returns the encoded head of a run, for the current state of the peer's table.
    mutating func head(of run: RequestRun, by encoder: inout HeaderEncoder) -> EncodedHead
    /// Fills in what differs between the requests of a run that are laid out on a sheet.
    func fill(_ sheet: inout RequestSheet, with run: RequestRun)
    /// Returns the head and the body of a run's first request, filled in.
    func first(of run: RequestRun, _ head: EncodedHead) -> (head: EncodedHead, body: [UInt8])

    /// Reads an answer other than 200.
    func reply(status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Reply
    /// Whether idle connections are given up instead of checked: the gateway closes them, and takes PINGs on them amiss.
    var closesWhenIdle: Bool { get }
    /// Of which notifications the gateway's own ids are read.
    var readsIDs: IDReading { get }
    /// Reads the gateway's own id of a notification from an answer.
    ///
    /// - Parameters:
    ///   - fields: The header fields of the answer and others.
    ///   - range: The indices of the answer's fields.
    ///   - body: The body of the answer.
    ///   - parser: A JSON parser.
    /// - Returns: `nil` if there is none.
    func uniqueID(
        in fields: HeaderFields, _ range: Range<Int>, body: ArraySlice<UInt8>, parser: inout some DocumentParser
    ) -> String?
    /// Returns what the debug data of a GOAWAY frame blames the app for; `nil` if it does not.
    func accusation(inGoAway debug: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Accusation?
}

/// Of which notifications the gateway's own ids are read.
package enum IDReading: Hashable, Sendable {
    /// Of none.
    case none
    /// Of all that are answered.
    case all
    /// Of accepted ones that get a line of feedback.
    case recorded
}

/// What a gateway blames an app for when it closes a connection.
package struct Accusation: Hashable, Sendable {
    /// The gateway's word.
    package let word: String
    /// The remedy for the operator.
    package let hint: String?

    /// Creates an accusation.
    package init(_ word: String, hint: String?) {
        (self.word, self.hint) = (word, hint)
    }
}
