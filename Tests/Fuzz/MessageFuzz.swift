import Document
import FCMServing
import JSON
import JobFormat
import PushModel

/// Messages for FCM. What a job compiles to is taken by a strict FCM.
enum MessageFuzz {
    private static let token = "cXz1AbCdEfGhIjKlMnOpQr:APA91bH"

    /// The input is the payload of a job, and the form of a request for an access token.
    static func run(_ input: Span<UInt8>) {
        let text = input.array
        assertion(text)
        var parser = JSON.Parser(limits: context.limits)
        guard let root = (try? parser.parse(text))?.root, root.kind == .mapping else { return }
        guard let members = compiled(Array(root.raw)) else { return }
        promise(fault(members) == nil, "FCM refuses what a job compiles to")
    }

    /// The members of the message that a job compiles to; `nil` if it is refused.
    private static func compiled(_ payload: [UInt8]) -> [UInt8]? {
        var parser = JSON.Parser()
        let job = Array("{\"token\":\"\(token)\",\"payload\":".utf8) + payload + [UInt8(ascii: "}")]
        var reader = DocumentJobReader(parsing: job, with: &parser, context: context)
        guard reader.validate().failure == nil, let batch = reader.next()?.batches.first else { return nil }
        return batch.payload(at: 0).flatMap { $0 == 1 ? Array("60".utf8) : [$0] }
    }

    private static func fault(_ members: [UInt8]) -> GoogleError? {
        var (reading, parser) = (MessageReading(), JSON.Parser())
        let separator = members.isEmpty ? "" : ","
        let start = Array("{\"message\":{\"token\":\"\(token)\"\(separator)".utf8)
        reading.read(start + members + Array("}}".utf8), parser: &parser)
        return reading.fault
    }

    private static func assertion(_ form: [UInt8]) {
        var parser = JSON.Parser()
        do throws(TokenError) {
            let request = try TokenRequest(form: form, parser: &parser)
            promise(request.signingInput.count { $0 == UInt8(ascii: ".") } == 1, "not header and claims are signed")
        } catch {
            promise((400...401).contains(error.status), "a strange status")
        }
    }

    private static let context: JobContext = {
        let noon = WallTime(epochSeconds: 1_795_262_400)
        return JobContext(job: JobID(bits: 77), droppedAt: noon, carrier: .fcm) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
    }()
}
