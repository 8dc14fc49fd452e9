import DoorModel
import SpoolClient

extension APIProblem {
    /// No job can be accepted for now.
    static let unavailable = {
        var problem = APIProblem(503, "no job can be accepted now", remedy: "send it again; the door's log says why")
        problem.retryAfter = 1
        return problem
    }()

    /// The bodies of other requests have all the memory for them.
    static let busy = {
        var problem = APIProblem(503, "too many requests are being read", remedy: "send it again a little later")
        problem.retryAfter = 1
        return problem
    }()

    /// It is not known who sends the request.
    static let unauthorized = APIProblem(
        401, "the request does not prove who sends it", remedy: "send Authorization: Bearer <token of a producer>")

    /// The body is too long.
    static func tooLong(_ limit: Int) -> APIProblem {
        APIProblem(413, "the body is longer than \(limit) bytes", remedy: "send several jobs, or raise limits.request")
    }

    /// Creates the problem for an error.
    init(_ error: any Error) {
        switch error {
        case let problem as APIProblem: self = problem
        case let trouble as DoorTrouble: self.init(503, trouble.description)
        case let fault as SpoolClientError where fault.isInputFault:
            self.init(400, fault.message, remedy: fault.hint)
        default: self.init(500, "the spool cannot be read or written", remedy: "the door's log says why")
        }
    }
}
