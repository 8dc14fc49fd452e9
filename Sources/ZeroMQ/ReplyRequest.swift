/// A request, and where its reply goes.
package struct ReplyRequest: Hashable, Sendable {
    /// Where a reply goes: the client, as libzmq names it, and what else must precede the reply.
    package struct ReturnPath: Hashable, Sendable {
        let parts: [[UInt8]]

        /// The client, as libzmq names it.
        package var client: [UInt8] { parts[0] }
    }

    /// The request's only part. `nil` if it has several, or none: to join them could make a request that nobody wrote.
    /// The client waits for a reply all the same.
    package let bytes: [UInt8]?
    /// Where the reply goes.
    package let returnPath: ReturnPath

    /// How many hops between the client and this socket are understood.
    private static let hopLimit = 16
    /// How many parts of a message are looked at: the client, the hops, the empty part, the request, and one too many.
    static let partLimit = hopLimit + 4

    /// Reads a message of a socket of type ROUTER (RFC 28): the client, the hops on the way, an empty part, and the request.
    ///
    /// - Parameter parts: The parts of the message, at least one and at most the first `partLimit`.
    init(_ parts: [[UInt8]]) {
        guard let end = parts.dropFirst().prefix(Self.hopLimit + 1).firstIndex(where: \.isEmpty), end + 1 < parts.count
        else {
            // A client of another type, such as DEALER, that does not write the empty part.
            (bytes, returnPath) = (nil, ReturnPath(parts: [parts[0]]))
            return
        }
        bytes = end + 2 == parts.count ? parts[end + 1] : nil
        returnPath = ReturnPath(parts: Array(parts[...end]))
    }
}
