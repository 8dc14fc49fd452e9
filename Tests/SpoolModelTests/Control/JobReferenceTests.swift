import JobFormat
import PushModel
import SpoolModel
import Testing

@Suite struct JobReferenceTests {
    private static let id = JobID(bits: 77)

    /// What somebody writes, the app beside it, and what that means: app, folder, day, subject.
    private static let table: [(String, String?, String)] = [
        ("weather/a.json", nil, "weather - - a.json"), ("a.json", "weather", "weather - - a.json"),
        ("weather/new/a.json", nil, "weather new - a.json"), ("hold/a.json", "weather", "weather hold - a.json"),
        ("weather/failed/2026-11-21/a.json", nil, "weather failed 2026-11-21 a.json"),
        ("done/2026-11-21/a~2.json", "weather", "weather done 2026-11-21 a~2.json"),
        ("weather/work/host-a/\(id)-a.json", nil, "weather work - \(id)"), ("\(id)", nil, "- - - \(id)"),
        ("weather/\(id)", nil, "weather - - \(id)"), ("\(id)", "weather", "weather - - \(id)"),
        ("ref:campaign/17", nil, "- - - ref campaign/17"),
        ("weather/ref:campaign/17", nil, "weather - - ref campaign/17"),
        ("weather/a.json", "weather", "weather - - a.json"), ("ref:x", "weather", "weather - - ref x"),
        ("weather/hold/\(id)", nil, "weather hold - \(id)"), ("a.json", nil, "- - - a.json"),
        ("spool/weather/new/a.json", nil, "weather new - a.json"),
        ("./spool/weather/hold/a.json", "weather", "weather hold - a.json"),
        ("/var/spool/pushspool/weather/failed/2026-11-21/a.json", nil, "weather failed 2026-11-21 a.json"),
        ("../spool/weather/work/host-a/\(id)-a.json", nil, "weather work - \(id)"),
    ]

    private func text(_ reference: JobReference) -> String {
        let subject =
            switch reference.subject {
            case .name(let name): name
            case .id(let id): "\(id)"
            case .ref(let ref): "ref \(ref)"
            }
        return [reference.app, reference.folder?.rawValue, reference.day].map { $0 ?? "-" }.joined(separator: " ")
            + " " + subject
    }

    @Test func `jobs are named by path, id or the producer's id`() throws {
        for (written, app, meaning) in Self.table {
            let reference = try #require(JobReference(written, app: app), "\(written)")
            #expect(text(reference) == meaning, "\(written)")
        }
    }

    @Test(arguments: [
        "", "/a.json", "weather/", "weather/new/", "weather/new/x/a.json", "weather/failed/a.json",
        "weather/failed//a.json", "weather/tmp/a.json", "weather/work/host-a/a.json", "ref:",
    ])
    func `anything else names no job`(text: String) {
        #expect(JobReference(text) == nil)
    }

    @Test func `names are taken as they are printed, and then as they are`() throws {
        let odd = try #require(JobReference("weather/50%25.json"))
        #expect(odd.names.map(\.bytes) == [Array("50%.json".utf8), Array("50%25.json".utf8)])
        let plain = try #require(JobReference("weather/50%.json"))
        #expect(plain.names.map(\.bytes) == [Array("50%.json".utf8)])
        #expect(try #require(JobReference("\(Self.id)")).names.isEmpty)
    }
}
