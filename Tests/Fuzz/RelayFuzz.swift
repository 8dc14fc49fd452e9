import APNSHTTP2
import APNSModel
import APNSServing
import Document
import DoorModel
import HTTP2
import JSON
import JobFormat
import PushModel
import SpoolModel

/// Requests to the relay. What it takes in must be exactly one recipient, the one that the request named, for the daemon.
enum RelayFuzz {
    private static let separator = UInt8(ascii: "\n")

    /// The input is header fields, `name: value` in lines, an empty line, and a body or, with 0xFF between them, several. Some
    /// usual fields come first.
    static func run(_ input: Span<UInt8>) {
        let (fields, body) = parts(of: input.array)
        var reading = RequestReading()
        reading.read(fields)
        var intake = RelayIntake(
            parser: JSON.Parser(), (RecentIDs(lifetime: .seconds(60)), KnownGone(lifetime: .seconds(60))),
            idBase: JobID(bits: 7), recordsAll: false)
        var producer = Producer(name: "fleet")
        producer.apps = ["weather"]
        _ = intake.admit([producer]) { _ in "fleet" }
        intake.setApps(AppRouter([list]), contexts: [context])
        let now = (moment: Moment.zero + .seconds(9), wallTime: WallTime(epochSeconds: 1_795_262_400))
        var client = RelayClient(certificateProducer: 0)
        // A second time it may be like the first, or repeat it.
        let bodies = body.split(separator: 0xFF, maxSplits: 3, omittingEmptySubsequences: false)
        for body in bodies + bodies {
            let (decision, id) = intake.decide(on: reading, body: body, from: &client, at: now)
            switch decision {
            case .answer(let answer): promise(answer.isAcceptance || answer.status >= 400, "a strange status")
            case .spool(let spooled): check(spooled, id, reading)
            case .follow(let key): promise(key.id == id.bits, "another request is followed")
            }
        }
        var (token, parser) = (TokenGuard(), JSON.Parser())
        _ = token.fault(in: reading.authorization, at: now, parser: &parser) { _ in 0 }
    }

    /// Reads the line as the daemon will.
    private static func check(
        _ spooled: RelayIntake<JSON.Parser>.Spooled, _ id: NotificationID, _ reading: RequestReading
    ) {
        promise(!spooled.bytes.contains(separator), "a line with a line feed")
        guard spooled.isLine else {
            var parser = JSON.Parser()
            var reader = DocumentJobReader(parsing: spooled.bytes, with: &parser, context: context)
            let batch = reader.next()?.batches.first
            promise(reader.summary.failure == nil && batch?.count == 1, "a broadcast that the daemon refuses")
            promise(batch?.id(at: 0) == id, "a broadcast with another id")
            return
        }
        var reader = LinesJobReader(parser: JSON.Parser(limits: context.limits.perLine), context: context)
        reader.append(spooled.bytes + [separator])
        reader.finish()
        let chunk = reader.next()
        promise(reader.summary.failure == nil && chunk?.rejected.isEmpty == true, "a line that the daemon refuses")
        guard let batch = chunk?.batches.first, batch.count == 1, chunk?.batches.count == 1 else {
            return promise(false, "not one recipient")
        }
        promise(Array(batch.addressBytes(at: 0)) == reading.token && batch.id(at: 0) == id, "another recipient")
    }

    private static func parts(of input: [UInt8]) -> (fields: HeaderFields, body: [UInt8]) {
        var fields = HeaderFields()
        var lines = usual.map { Array($0.utf8)[...] }
        var rest = input[...]
        while let end = rest.firstIndex(of: separator) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            lines.append(line)
        }
        for line in lines {
            // Pseudo-header fields begin with a colon.
            guard let colon = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = Array(line[..<colon])
            if name == Array(":path".utf8), lines.dropFirst(usual.count).contains(where: { $0.starts(with: name) }),
                line == Array(usual[1].utf8)[...]
            {
                continue
            }
            fields.append(name: name.span, value: Array(line[(colon + 1)...].drop { $0 == 0x20 }).span)
        }
        return (fields, Array(rest))
    }

    private static let usual = [":method: POST", ":path: /3/device/abababababababab", "apns-topic: com.example.app"]

    private static let list: AppList = {
        var list = AppList(node: "a", limits: DocumentLimits())
        var app = AppList.App(name: "weather", carrier: .http2)
        app.topic = "com.example.app"
        list.apps = [app]
        return list
    }()

    private static let context: JobContext = {
        let noon = WallTime(epochSeconds: 1_795_262_400)
        var context = JobContext(job: JobID(bits: 77), droppedAt: noon, carrier: .http2) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        (context.topic, context.identity) = ("com.example.app", .providerToken)
        return context
    }()
}
