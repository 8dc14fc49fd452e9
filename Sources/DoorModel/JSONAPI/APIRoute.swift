/// What a request to the JSON door asks for.
package enum APIRoute: Hashable, Sendable {
    /// Drop a job.
    case submit(app: String)
    /// Tell where a job is.
    case look(app: String, job: String)
    /// Remove a job that waits.
    case cancel(app: String, job: String)
    /// Read feedback.
    case feedback(app: String)
    /// Drop gorush's notifications.
    case gorush
    /// Tell that the process lives.
    case live
    /// Tell whether a job could be dropped.
    case ready
    /// Tell the metrics.
    case metrics
    /// Describe the door.
    case description

    /// Finds the route.
    ///
    /// - Throws: The problem with the path or the method.
    package init(method: String, path: String) throws(APIProblem) {
        // RFC 9110 §9.3.2: HEAD is GET without the content.
        let verb = method == "HEAD" ? "GET" : method
        let choices = try Self.choices(at: path)
        guard let route = choices.first(where: { $0.verb == verb })?.route else {
            var problem = APIProblem(405, "\(method) is not a method of this path")
            problem.allowed = choices.map(\.verb).joined(separator: ", ")
            throw problem
        }
        self = route
    }

    private static func choices(at path: String) throws(APIProblem) -> [(verb: String, route: APIRoute)] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch parts {
        case ["livez"]: return [("GET", .live)]
        case ["readyz"], ["healthz"]: return [("GET", .ready)]
        case ["metrics"]: return [("GET", .metrics)]
        case ["openapi.json"]: return [("GET", .description)]
        case ["api", "push"]: return [("POST", .gorush)]
        default: break
        }
        if parts.count >= 4, parts[0] == "v1", parts[1] == "apps", !parts[2].isEmpty {
            switch (parts[3], parts.count) {
            case ("jobs", 4): return [("POST", .submit(app: parts[2]))]
            case ("jobs", 5) where isFileName(parts[4]):
                return [
                    ("GET", .look(app: parts[2], job: parts[4])), ("DELETE", .cancel(app: parts[2], job: parts[4])),
                ]
            case ("feedback", 4): return [("GET", .feedback(app: parts[2]))]
            default: break
            }
        }
        throw APIProblem(404, "there is no such path", remedy: "see /openapi.json")
    }

    /// Whether a file may have this name (path_resolution(7)).
    private static func isFileName(_ name: String) -> Bool {
        !["", ".", ".."].contains(name) && name.utf8.count <= 255
    }

    /// The app that it is about.
    package var app: String? {
        switch self {
        case .submit(let app), .look(let app, _), .cancel(let app, _), .feedback(let app): app
        case .gorush, .live, .ready, .metrics, .description: nil
        }
    }

    /// Whether anybody may ask.
    package var isPublic: Bool { [.live, .ready, .description].contains(self) }
}

/// The form of a job, by its media type.
package enum JobMediaType: Sendable {
    /// One JSON document.
    case json
    /// One YAML document.
    case yaml
    /// JSON objects in lines.
    case lines

    /// Reads a media type without parameters, in lowercase.
    ///
    /// - Throws: The problem, if it is none of these types.
    package init(_ type: String) throws(APIProblem) {
        switch type {
        case "application/json": self = .json
        case "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml": self = .yaml
        case "application/jsonl", "application/x-ndjson", "application/x-jsonlines", "application/jsonlines":
            self = .lines
        default:
            throw APIProblem(
                415, "the Content-Type must say what the job is",
                remedy: "send application/json, application/yaml or application/jsonl")
        }
    }

    /// The ending of the job's name.
    package var ending: String {
        switch self {
        case .json: ".json"
        case .yaml: ".yaml"
        case .lines: ".jsonl"
        }
    }
}
