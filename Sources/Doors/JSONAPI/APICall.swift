import DoorModel
import MicroHTTPD
import SpoolModel

/// A request to the JSON door that was let in.
struct APICall: Sendable {
    /// The number of the request.
    let number: Int
    /// What it asks for.
    let route: APIRoute
    /// Who asks; `nil` only for what anybody may ask.
    let producer: Producer?
    /// The name for the file of a job.
    private(set) var fileName = ""
    /// Writes the client's own name of the job into it.
    var content: NamedContent?
    /// The app that a request of gorush's names for notifications to FCM.
    private(set) var fcmApp: String?
    /// Where feedback begins.
    private(set) var cursor = FeedbackCursor()
    /// Whether feedback goes on as events.
    private(set) var isOfEvents = false
    /// The number of the job that is being written.
    var staged: Int?
    /// Whether it counts as one notification of its producer.
    var isCounted = false
    /// Whether feedback is being read.
    var isStreaming = false
    /// The number of the configuration with which that began.
    var generation = 0

    static let noSuchApp = APIProblem(404, "there is no such app", remedy: "see `pushspool status` for the apps")

    /// Lets a request in.
    ///
    /// - Throws: Why it is refused.
    init(_ request: HTTPRequest, _ book: ProducerBook, bodyLimit: Int) throws(APIProblem) {
        number = request.number
        route = try APIRoute(method: request.method, path: request.path)
        producer = book.producer(behind: request)
        guard !route.isPublic else { return }
        guard let producer else { throw APIProblem.unauthorized }
        if let app = route.app, !producer.may(use: app) { throw Self.noSuchApp }
        if let count = request.announcedByteCount, count > bodyLimit { throw APIProblem.tooLong(bodyLimit) }
        try request.requirePlainBody()
        try readRest(of: request)
    }

    private mutating func readRest(of request: HTTPRequest) throws(APIProblem) {
        switch route {
        case .submit:
            let type = try JobMediaType(request.mediaType)
            fileName = try Self.lane(request.query["lane"]) + "http" + type.ending
            if let key = request.fields["idempotency-key"] { content = try NamedContent(key: key, type: type) }
        case .feedback:
            isOfEvents = request.fields["accept"]?.contains("text/event-stream") ?? false
            let text = request.fields["last-event-id"] ?? request.query["after"] ?? ""
            guard let cursor = FeedbackCursor(text) else {
                throw APIProblem(400, "after is not a cursor", remedy: "pass the value of Pushspool-Cursor")
            }
            self.cursor = cursor
        case .gorush: fcmApp = request.query["app"]
        case .look, .cancel, .live, .ready, .metrics, .description: break
        }
    }

    private static func lane(_ text: String?) throws(APIProblem) -> String {
        switch text {
        case nil, "normal": ""
        case "urgent": "urgent-"
        case "bulk": "bulk-"
        default: throw APIProblem(400, "lane must be urgent, normal or bulk")
        }
    }

    /// Whether it drops a job if all goes well.
    var mayDrop: Bool {
        switch route {
        case .submit, .gorush: true
        case .look, .cancel, .feedback, .live, .ready, .metrics, .description: false
        }
    }

    /// Whether the body must be in memory to be read.
    var mustBeWhole: Bool { route == .gorush }

    /// Whether something remains to be cleaned up when its client has gone.
    var isUnfinished: Bool { staged != nil || isStreaming }
}
