import DoorModel
import Testing

struct NamedContentTests {
    @Test(arguments: [
        (JobMediaType.json, #"{"token":"a"}"#, #"{"id":"k","token":"a"}"#),
        (.json, " \n{ }", " \n{\"id\":\"k\" }"),
        (.json, "[1]", "[1]"), (.json, "", ""),
        (.lines, "{\"token\":\"a\"}\n", "{\"job\":{\"id\":\"k\"}}\n{\"token\":\"a\"}\n"),
        (.lines, "\n\n{\"token\":\"a\"}\n", "\n\n{\"job\":{\"id\":\"k\"}}\n{\"token\":\"a\"}\n"),
        (.lines, "{ \"job\" : {\"count\":1}}\n", "{ \"job\" : {\"id\":\"k\",\"count\":1}}\n"),
        (.lines, "{\"job\":{}}\n\"a\"\n", "{\"job\":{\"id\":\"k\"}}\n\"a\"\n"),
        (.yaml, "token: a\n", "id: \"k\"\ntoken: a\n"),
        (.yaml, "# why\n\n  token: a\n", "# why\n\n  id: \"k\"\n  token: a\n"),
        (.yaml, "{token: a}", #"{"id":"k",token: a}"#),
    ])
    func `a key becomes the id, however the job arrives`(_ type: JobMediaType, _ job: String, _ named: String) throws {
        let bytes = Array(job.utf8)
        for cut in 0...bytes.count {
            var content = NamedContent(key: "\"k\"", type: type)
            let parts = try [Array(bytes[..<cut]), Array(bytes[cut...])].map { try content.take($0) }
            let text = String(decoding: parts[0] + parts[1] + (try content.finish()), as: UTF8.self)
            #expect(text == named, "cut at \(cut)")
        }
    }

    @Test(arguments: ["---\ntoken: a\n", "%YAML 1.2\n---\n", "\u{FEFF}token: a\n"])
    func `a job without a place for it is refused`(_ job: String) {
        var content = NamedContent(key: "k", type: .yaml)
        #expect(throws: APIProblem.self) { try content.take(Array(job.utf8)) }
    }

    @Test(arguments: [JobMediaType.json, .yaml, .lines])
    func `a byte order mark is refused, since it would hide the place`(_ type: JobMediaType) {
        var content = NamedContent(key: "k", type: type)
        #expect(throws: APIProblem.self) { try content.take(Array("\u{FEFF}{\"token\":\"a\"}\n".utf8)) }
    }
}

struct APIRouteTests {
    @Test(arguments: [
        ("POST", "/v1/apps/weather/jobs", APIRoute.submit(app: "weather")),
        ("GET", "/v1/apps/weather/jobs/a.json", .look(app: "weather", job: "a.json")),
        ("HEAD", "/v1/apps/weather/feedback", .feedback(app: "weather")),
        ("DELETE", "/v1/apps/a b/jobs/c", .cancel(app: "a b", job: "c")), ("POST", "/api/push", .gorush),
    ])
    func `a path leads to what it says`(_ method: String, _ path: String, _ route: APIRoute) throws {
        #expect(try APIRoute(method: method, path: path) == route)
    }

    @Test(arguments: [
        ("GET", "/", 404), ("GET", "", 404), ("GET", "/v1/apps//jobs/x", 404), ("GET", "/v1/apps/a/jobs/..", 404),
        ("GET", "/v1/apps/a/jobs/", 404), ("PUT", "/v1/apps/a/jobs", 405), ("POST", "/healthz", 405),
        ("GET", "/v1/apps/a/jobs/b/c", 404),
    ])
    func `any other is refused`(_ method: String, _ path: String, _ status: Int) {
        let problem = #expect(throws: APIProblem.self) { _ = try APIRoute(method: method, path: path) }
        #expect(problem?.status == status)
        #expect((problem?.allowed != nil) == (status == 405))
    }
}
