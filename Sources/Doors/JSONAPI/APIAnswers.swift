import Document
import DoorModel
import JobFormat
import LinuxIO
import SpoolClient

extension APIProblem {
    /// Nothing can be taken in for now.
    static let unavailable = {
        var problem = APIProblem(503, "no job can be taken now", remedy: "send it again; the door's log says why")
        problem.retryAfter = 1
        return problem
    }()

    /// Creates the problem for an error.
    init(_ error: any Error) {
        switch error {
        case let problem as APIProblem: self = problem
        case let trouble as DoorTrouble: self.init(503, trouble.description)
        case let fault as SpoolClientError: self.init(fault.isInputFault ? 400 : 500, fault.message, remedy: fault.hint)
        default: self.init(500, "\(error)", remedy: "make the door's user a member of the group of the app's folders")
        }
    }
}

extension JobDesk.Receipt {
    /// The answer to a job: `{"job":…,"recipients":…,"rejected":…}`, and findings if there are any.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("job", name)
        writer.member("recipients", recipientCount)
        writer.member("rejected", rejectedCount)
        if !diagnostics.isEmpty {
            writer.key("diagnostics")
            writer.diagnostics(diagnostics)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension JobLocator.Place {
    /// The answer about a job: its name and state, and once it has ended the day and the content of its result file.
    func json(_ job: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("job", job)
        switch self {
        case .waiting: writer.member("state", "waiting")
        case .held: writer.member("state", "held")
        case .done(let day, let result): Self.end("done", day, result, &writer)
        case .failed(let day, let result): Self.end("failed", day, result, &writer)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private static func end(_ state: String, _ day: String, _ result: [UInt8]?, _ writer: inout JSONWriter) {
        writer.member("state", state)
        writer.member("day", day)
        guard let result else { return }
        writer.key("result")
        writer.raw(result.filter { $0 != 0x0A && $0 != 0x0D })
    }
}
