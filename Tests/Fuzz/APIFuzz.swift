import Document
import DoorModel
import JSON
import JobFormat
import PushModel
import YAML

/// Requests to the JSON door: paths, cursors, jobs that are given an id, and bodies for gorush.
enum APIFuzz {
    private static let noon = WallTime(epochSeconds: 1_795_262_400)
    private static let key = "storm-17"

    /// The first byte chooses what is fuzzed, the second where it is cut, the rest is the text.
    static func run(_ input: Span<UInt8>) {
        guard input.count > 2 else { return }
        let text = input.extracting(droppingFirst: 2).array
        let cut = Int(input[1]) % (text.count + 1)
        switch input[0] % 5 {
        case 0: route(String(decoding: text, as: UTF8.self))
        case 1: name(text, at: cut, .json)
        case 2: name(text, at: cut, .yaml)
        case 3: name(text, at: cut, .lines)
        default: gorush(text)
        }
    }

    private static func route(_ path: String) {
        for method in ["GET", "POST", "DELETE", "HEAD"] {
            do throws(APIProblem) {
                switch try APIRoute(method: method, path: path) {
                case .look(_, let job), .cancel(_, let job):
                    promise(!job.contains("/") && job != ".." && job.utf8.count <= 255, "a name that leaves its folder")
                case .submit(let app), .feedback(let app): promise(!app.isEmpty && !app.contains("/"), "another app")
                case .gorush, .live, .ready, .metrics, .description: break
                }
            } catch {
                promise(error.status == 404 || error.status == 405, "a strange status")
            }
        }
    }

    /// A job that is good without an id must be good with one, however its bytes arrive.
    private static func name(_ text: [UInt8], at cut: Int, _ type: JobMediaType) {
        let (whole, parts) = (named([text], type), named([Array(text[..<cut]), Array(text[cut...])], type))
        promise(whole == parts, "another job when it is cut")
        guard let whole else { return }
        let plain = summary(of: text, type)
        guard plain.failure == nil, plain.header.ref == nil else { return }
        let summary = summary(of: whole, type)
        promise(summary.failure == nil, "a good job that is bad with an id")
        promise(summary.header.ref == key, "a job without its id")
        promise(summary.recipientCount == plain.recipientCount, "a job for others")
    }

    private static func named(_ parts: [[UInt8]], _ type: JobMediaType) -> [UInt8]? {
        do throws(APIProblem) {
            var content = try NamedContent(key: "\"\(key)\"", type: type)
            var bytes: [UInt8] = []
            var parser = JSON.Parser()
            for part in parts { bytes += try content.receive(part, with: &parser) }
            return bytes + (try content.finish(with: &parser))
        } catch {
            return nil
        }
    }

    private static func summary(
        of text: [UInt8], _ type: JobMediaType, for carrier: Carrier = .http2
    ) -> JobSummary {
        var context = context
        context.carrier = carrier
        switch type {
        case .json:
            var parser = JSON.Parser()
            var reader = DocumentJobReader(parsing: text, with: &parser, context: context)
            return reader.validate()
        case .yaml:
            var parser = YAML.Parser()
            var reader = DocumentJobReader(parsing: text, with: &parser, context: context)
            return reader.validate()
        case .lines:
            var reader = LinesJobReader(parser: JSON.Parser(limits: context.limits.perLine), context: context)
            reader.append(text)
            reader.finish()
            while reader.next() != nil {}
            return reader.summary
        }
    }

    private static func gorush(_ text: [UInt8]) {
        var parser = JSON.Parser()
        guard let tape = try? parser.parse(text),
            let request = try? GorushRequest(tape.root, at: WallTime(epochSeconds: 1_795_262_400))
        else { return }
        for notification in request.notifications {
            promise(notification.jobs.isEmpty == (notification.fault != nil), "no job, or a reason beside one")
            for job in notification.jobs {
                let summary = summary(of: job.bytes, .json, for: notification.platform == .android ? .fcm : .http2)
                promise(summary.failure != nil || summary.recipientCount == job.recipients.count, "a job for others")
            }
        }
    }

    private static var context: JobContext {
        JobContext(job: JobID(bits: 77), droppedAt: noon, carrier: .http2) {
            text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
    }
}
