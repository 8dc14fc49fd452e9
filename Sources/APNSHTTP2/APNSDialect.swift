import APNSModel
package import Document
package import HTTP2
package import PushHTTP2
package import PushModel

/// Apple's API over HTTP/2: the address is in the path, and the payload is the body.
package struct APNSDialect: RequestDialect {
    private var sender: RequestFields.Sender
    private var heads = HeadCache()
    package let readsIDs: IDReading

    /// Creates the dialect of an app.
    ///
    /// - Parameters:
    ///   - sender: The parts that all requests share.
    ///   - readsIDs: Whether to read `apns-unique-id`, which only Apple's sandbox sends.
    package init(sender: RequestFields.Sender, readsIDs: Bool = false) {
        (self.sender, self.readsIDs) = (sender, readsIDs ? .all : .none)
    }

    package var authorization: String? {
        get { sender.authorization }
        set { sender.authorization = newValue }
    }

    package var closesWhenIdle: Bool { false }

    package var leastAuthorizationPause: Duration { .seconds(TokenSchedule.leastPause) }

    package func run(of batch: Batch, at _: WallTime) -> RequestRun {
        if let payload = batch.sharedPayload { return RequestRun(of: batch) { _, _ in (payload.bytes, nil) } }
        return RequestRun(of: batch) { payload, _ in (Array(payload), nil) }
    }

    package mutating func head(of run: RequestRun, by encoder: inout HeaderEncoder) -> EncodedHead {
        let measures = RequestFields.Measures(
            tokenByteCount: run.addresses.byteCount, payloadByteCount: run.body.count)
        return heads.encoded(for: run.batch, measures, from: sender, by: &encoder)
    }

    package func fill(_ sheet: inout RequestSheet, with run: RequestRun) {
        let (count, stride) = (sheet.count, sheet.requestByteCount)
        let tokenAt = sheet.offset(ofHole: RequestFields.tokenHole, request: 0)
        let idAt = sheet.offset(ofHole: RequestFields.idHole, request: 0)
        let lengthAt = sheet.offset(ofHole: RequestFields.lengthHole, request: 0)
        let (batch, addresses) = (run.batch, run.addresses)
        let (storage, byteCount) = (batch.addressStorage, run.tokenByteCount)
        let length = RequestHead.digits(of: run.body.count)
        sheet.withHoles { bytes in
            for request in 0..<count {
                let start = addresses.offset + request * addresses.byteCount
                RequestFields.fill(
                    storage.span.extracting(start..<start + byteCount),
                    batch.id(at: batch.indices.lowerBound + request), into: &bytes,
                    at: (tokenAt + request * stride, idAt + request * stride))
                bytes.store(length.span, at: lengthAt + request * stride)
            }
        }
    }

    package func first(of run: RequestRun, _ head: EncodedHead) -> (head: EncodedHead, body: [UInt8]) {
        var filled = head
        let index = run.batch.indices.lowerBound
        let token = run.tokenByteCount == 0 ? [] : Array(run.batch.addressBytes(at: index))
        var bytes = filled.bytes.mutableSpan
        RequestFields.fill(
            token.span, run.batch.id(at: index), into: &bytes,
            at: (head.holes[RequestFields.tokenHole], head.holes[RequestFields.idHole]))
        bytes.store(RequestHead.digits(of: run.body.count).span, at: head.holes[RequestFields.lengthHole])
        return (filled, run.body)
    }

    package func reply(status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Reply {
        Reply(status: status, body: body, parser: &parser)
    }

    package func uniqueID(
        in fields: HeaderFields, _ range: Range<Int>, body _: ArraySlice<UInt8>, parser _: inout some DocumentParser
    ) -> String? {
        fields.uniqueID(in: range)
    }

    package func accusation(inGoAway debug: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Accusation? {
        let reason = Reply.reason(ofGoAway: debug, parser: &parser)
        guard let reason, reason.failureClass == .app else { return nil }
        return Accusation(reason.rawValue, hint: reason.hint)
    }
}

extension RequestRun {
    /// A broadcast's head contains its channel and has no hole for it.
    fileprivate var tokenByteCount: Int { batch.attributes.addressKind == .channel ? 0 : addresses.byteCount }
}
