package import Document
package import HTTP2
package import PushHTTP2
package import PushModel

/// FCM's HTTP v1 API: the address is in the body, and all requests of a project have the same head.
package struct FCMDialect: RequestDialect, CustomStringConvertible, CustomReflectable {
    private let authority: String
    private let project: String
    /// The value of `authorization`. A secret.
    package var authorization: String? { didSet { known = nil } }
    /// The latest head by the digits of the body's length.
    private var known: (digitCount: Int, head: EncodedHead)?
    /// The latest body of a payload that notifications share.
    private var shared: MessageBody?

    /// Creates the dialect of a project.
    ///
    /// - Parameters:
    ///   - authority: The gateway's host: the value of `:authority`.
    ///   - project: The project's id or number.
    ///   - authorization: The value of `authorization`.
    package init(authority: String, project: String, authorization: String?) {
        (self.authority, self.project, self.authorization) = (authority, project, authorization)
    }

    package var closesWhenIdle: Bool { true }

    /// A message's name is in the body of its acceptance, which few senders need.
    package var readsIDs: IDReading { .recorded }

    /// The project and the host.
    package var description: String { "\(project) at \(authority)" }

    /// Hides the authorization from `dump`.
    package var customMirror: Mirror { Mirror(self, children: ["project": project, "authority": authority]) }

    /// Google's access tokens end no other, and each request may have another one.
    package var leastAuthorizationPause: Duration { .zero }

    package mutating func run(of batch: Batch, at now: WallTime) -> RequestRun {
        let attributes = batch.attributes
        let life = MessageBody.life(until: attributes.expiration, at: now)
        return RequestRun(of: batch) { payload, addressByteCount in
            let form = MessageBody.Form(kind: attributes.addressKind, addressByteCount: addressByteCount, life: life)
            guard let common = batch.sharedPayload else { return MessageBody(payload, form).parts }
            if let shared, shared.form == form, shared.payload == common.bytes[...] { return shared.parts }
            let body = MessageBody(common.bytes[...], form)
            shared = body
            return body.parts
        }
    }

    package mutating func head(of run: RequestRun, by encoder: inout HeaderEncoder) -> EncodedHead {
        let digitCount = RequestHead.digitCount(of: run.body.count)
        if let known, known.digitCount == digitCount, known.head.isRepeatable, known.head.revision == encoder.revision {
            return known.head
        }
        var fields = MessageHead.fields(authority: authority, project: project, authorization: authorization)
        fields.append(RequestHead.Field("content-length", .hole(byteCount: digitCount)))
        let head = encoder.encode(RequestHead(fields: fields))
        known = (digitCount, head)
        return head
    }

    package func fill(_ sheet: inout RequestSheet, with run: RequestRun) {
        let (count, stride) = (sheet.count, sheet.requestByteCount)
        let lengthAt = sheet.offset(ofHole: MessageHead.lengthHole, request: 0)
        let addressAt = sheet.bodyOffset(request: 0) + (run.addressOffset ?? 0)
        let (addresses, storage) = (run.addresses, run.batch.addressStorage)
        let length = RequestHead.digits(of: run.body.count)
        sheet.withHoles { bytes in
            for request in 0..<count {
                let start = addresses.offset + request * addresses.byteCount
                bytes.store(
                    storage.span.extracting(start..<start + addresses.byteCount), at: addressAt + request * stride)
                bytes.store(length.span, at: lengthAt + request * stride)
            }
        }
    }

    package func first(of run: RequestRun, _ head: EncodedHead) -> (head: EncodedHead, body: [UInt8]) {
        var (filled, body) = (head, run.body)
        var bytes = filled.bytes.mutableSpan
        bytes.store(RequestHead.digits(of: body.count).span, at: head.holes[MessageHead.lengthHole])
        let start = run.addressOffset ?? 0
        body.replaceSubrange(
            start..<start + run.addresses.byteCount, with: run.batch.addressBytes(at: run.batch.indices.lowerBound))
        return (filled, body)
    }

    package func reply(status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Reply {
        Reply(fcmStatus: status, body: body, parser: &parser)
    }

    package func uniqueID(
        in _: HeaderFields, _: Range<Int>, body: ArraySlice<UInt8>, parser: inout some DocumentParser
    ) -> String? {
        RPCStatus.messageName(in: body, parser: &parser)
    }

    /// Google's debug data names no fault of an app's.
    package func accusation(inGoAway _: ArraySlice<UInt8>, parser _: inout some DocumentParser) -> Accusation? { nil }
}
