import APNSModel
import APNSServing
package import PushModel

/// A client of the relay on one connection: who it is, and where its last request went.
package struct RelayClient: Sendable {
    /// The place of the producer that the client's certificate proves; `nil`: it needs a provider token.
    let certificateProducer: Int?
    var tokens = TokenGuard()
    /// The mark of the spool whose daemon it is; `nil` for other clients.
    package var mark: UInt32?
    /// When it last proved by a token who it is.
    package internal(set) var provedAt: Moment?
    /// The last route that was found, which the next request usually takes too.
    var route: Route?

    /// Where the requests with a topic and a push type go.
    struct Route {
        let topic: [UInt8]
        let type: PushType?
        let authority: [UInt8]
        let producer: Int
        let app: Int
        /// Of the apps and producers that it was found among.
        let generation: Int
    }

    /// Creates a client.
    ///
    /// - Parameter certificateProducer: The place of the producer that its certificate proves, if it has one.
    package init(certificateProducer: Int?) {
        self.certificateProducer = certificateProducer
    }

    /// Whether the client has proved who it is.
    package var isKnown: Bool { certificateProducer != nil || provedAt != nil }
}
