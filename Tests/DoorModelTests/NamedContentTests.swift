import DoorModel
import JSON
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
        (.lines, "{\"defaults\":{\"a\":1}}\n\"a\"\n", "{\"job\":{\"id\":\"k\"},\"defaults\":{\"a\":1}}\n\"a\"\n"),
        (
            .lines, "{\"defaults\":{\"job\":{}}, \"job\" : {\"count\":1}}\n\"a\"\n",
            "{\"defaults\":{\"job\":{}}, \"job\" : {\"id\":\"k\",\"count\":1}}\n\"a\"\n"
        ),
        (.lines, #"{ "d\u0065faults": {}}"#, #"{"job":{"id":"k"}, "d\u0065faults": {}}"#),
        (.lines, #"{"\u006aob" : { } }"#, #"{"\u006aob" : {"id":"k" } }"#),
        (.lines, #"{"job":null,"defaults":{}}"#, #"{"job":{"id":"k"},"defaults":{}}"#),
        (.lines, "{\"job\":5}\n\"a\"\n", "{\"job\":5}\n\"a\"\n"), (.lines, "{\"job\":\n\"a\"\n", "{\"job\":\n\"a\"\n"),
        (.lines, "\"a\"\n", "{\"job\":{\"id\":\"k\"}}\n\"a\"\n"),
        (.yaml, "token: a\n", "id: \"k\"\ntoken: a\n"),
        (.yaml, "# why\n\n  token: a\n", "# why\n\n  id: \"k\"\n  token: a\n"),
        (.yaml, "{token: a}", #"{"id":"k",token: a}"#),
    ])
    func `a key becomes the id, however the job arrives`(_ type: JobMediaType, _ job: String, _ named: String) throws {
        let bytes = Array(job.utf8)
        for cut in 0...bytes.count {
            var content = try NamedContent(key: "\"k\"", type: type)
            var parser = JSON.Parser()
            let parts = try [bytes[..<cut], bytes[cut...]].map { try content.receive(Array($0), with: &parser) }
            let text = String(decoding: parts[0] + parts[1] + (try content.finish(with: &parser)), as: UTF8.self)
            #expect(text == named, "cut at \(cut)")
        }
    }

    @Test(arguments: ["---\ntoken: a\n", "%YAML 1.2\n---\n", "\u{FEFF}token: a\n"])
    func `a job without a place for it is refused`(_ job: String) throws {
        var (content, parser) = try (NamedContent(key: "k", type: .yaml), JSON.Parser())
        #expect(throws: APIProblem.self) { try content.receive(Array(job.utf8), with: &parser) }
    }

    /// Latin-1 and other encodings arrive as U+FFFD; the accents are the same character for Swift, and not the same bytes.
    @Test(arguments: ["für-7", "f\u{FFFD}r-7", "e\u{301}", "a\u{7F}", "\u{1F}"])
    func `a key of other characters than ASCII's is refused`(_ key: String) {
        let problem = #expect(throws: APIProblem.self) { try NamedContent(key: key, type: .json) }
        #expect(problem?.status == 400)
    }

    @Test(arguments: [JobMediaType.json, .yaml, .lines])
    func `a byte order mark is refused, since it would hide the place`(_ type: JobMediaType) throws {
        var (content, parser) = try (NamedContent(key: "k", type: type), JSON.Parser())
        #expect(throws: APIProblem.self) {
            try content.receive(Array("\u{FEFF}{\"token\":\"a\"}\n".utf8), with: &parser)
        }
    }
}

struct NamedJobsTests {
    private static func origin(_ fingerprint: [UInt64]) -> NamedJobs<Int>.Origin { .init("cron", fingerprint) }

    private let name = NamedJobs<Int>.Name("k", app: "weather")

    @Test func `a repetition gets the first answer, and another job is refused`() throws {
        var jobs = NamedJobs<Int>(capacity: 2)
        #expect(try jobs.begin(name, Self.origin([1])) == nil)
        let early = #expect(throws: APIProblem.self) { try jobs.begin(name, Self.origin([1])) }
        #expect(early?.status == 409)
        jobs.drop(name, Self.origin([1]), 17)
        #expect(try jobs.begin(name, Self.origin([1])) == 17)
        let other = #expect(throws: APIProblem.self) { try jobs.begin(name, Self.origin([2])) }
        #expect(other?.status == 422)
        // The daemon compares the ids of all jobs of an app, whoever dropped them.
        let foreign = #expect(throws: APIProblem.self) { try jobs.begin(name, .init("fleet", [1])) }
        #expect(foreign?.status == 422)
        for others in [("k", "news"), ("l", "weather")] {
            #expect(try jobs.begin(.init(others.0, app: others.1), Self.origin([2])) == nil)
        }
    }

    @Test func `a job that was not dropped is no first one`() throws {
        var jobs = NamedJobs<Int>(capacity: 2)
        #expect(try jobs.begin(name, Self.origin([1])) == nil)
        jobs.giveUp(name)
        #expect(try jobs.begin(name, Self.origin([2])) == nil)
    }

    @Test func `a job that was taken back is forgotten`() throws {
        var jobs = NamedJobs<Int>(capacity: 2)
        let other = NamedJobs<Int>.Name("l", app: "weather")
        for (name, answer) in [(name, 17), (other, 18)] {
            #expect(try jobs.begin(name, Self.origin([1])) == nil)
            jobs.drop(name, Self.origin([1]), answer)
        }
        jobs.forget { $0 == 17 }
        #expect(try jobs.begin(name, Self.origin([2])) == nil)
        #expect(try jobs.begin(other, Self.origin([1])) == 18)
    }

    @Test func `only the youngest are remembered`() throws {
        var jobs = NamedJobs<Int>(capacity: 3)
        for number in 0..<100 {
            let name = NamedJobs<Int>.Name("\(number)", app: "")
            #expect(try jobs.begin(name, Self.origin([])) == nil)
            jobs.drop(name, Self.origin([]), number)
        }
        for number in 95..<100 {
            let name = NamedJobs<Int>.Name("\(number)", app: "")
            #expect(try jobs.begin(name, Self.origin([])) == (number > 96 ? number : nil))
        }
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
