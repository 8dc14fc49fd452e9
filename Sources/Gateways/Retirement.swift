import PushHTTP2

extension HTTP2Session {
    /// How a session ended.
    enum End {
        /// The gateway closed the connection, or it broke.
        case lost(GatewayFault)
        /// The peer refused our certificate, even if late.
        case refused(GatewayFault)
        /// We closed it, with nothing in doubt.
        case closed
    }

    /// Why a connection takes no more requests, unless the gateway ends it or it is too old.
    enum Retirement {
        /// The server has only reported failures of its own lately.
        case failing
        /// There is another token, and the gateway accepts no other here yet.
        case oldToken
        /// The gateway refused a request that it may take on another connection.
        case refused
        /// The gateway calls the token expired.
        case expiredToken
        /// The gateway refused a request with status 403.
        case forbidden

        /// The reason as a message.
        var message: String {
            switch self {
            case .failing: "the last \(SessionMachine.failureLimit) answers on it reported server errors"
            case .oldToken: "its token was replaced"
            case .refused: "the gateway refused a request on it that it may take on another"
            case .expiredToken: "the gateway refused its token as expired"
            case .forbidden: "the gateway refused a request on it with status 403"
            }
        }
    }
}
