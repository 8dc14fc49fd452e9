import HTTP2
import PushModel

/// The requests at the front of a batch that have the same head and body but for the holes: their payload is the same,
/// and their addresses have the same length.
struct RequestRun {
    private let batch: Batch
    private let addresses: Batch.UniformAddresses
    /// The payload.
    let body: [UInt8]
    /// The number of requests.
    let count: Int

    /// Finds the longest run at the front of a batch, which is not empty.
    init(from batch: Batch) {
        self.batch = batch
        addresses = batch.uniformAddresses(atMost: batch.count)
        let payload = batch.sharedPayload?.bytes
        body = payload ?? Array(batch.payload(at: batch.indices.lowerBound))
        count = payload == nil ? 1 : addresses.count
    }

    /// The sizes of the holes in their head.
    var measures: RequestFields.Measures {
        RequestFields.Measures(tokenByteCount: addresses.byteCount, payloadByteCount: body.count)
    }

    /// A broadcast's head contains its channel and has no hole for it.
    private var tokenByteCount: Int { batch.attributes.addressKind == .channel ? 0 : addresses.byteCount }

    /// Fills in the stream numbers, from `first` on, and the holes of the first requests, as many as are laid out.
    func fill(_ sheet: inout RequestSheet, from first: UInt32) {
        sheet.setStreams(from: first)
        let (count, stride) = (sheet.count, sheet.requestByteCount)
        let tokenAt = sheet.offset(ofHole: RequestFields.tokenHole, request: 0)
        let idAt = sheet.offset(ofHole: RequestFields.idHole, request: 0)
        let lengthAt = sheet.offset(ofHole: RequestFields.lengthHole, request: 0)
        let storage = batch.addressStorage
        let tokenByteCount = tokenByteCount
        sheet.withHoles { bytes in
            for request in 0..<count {
                let start = addresses.offset + request * addresses.byteCount
                RequestFields.fill(
                    storage.span.extracting(start..<start + tokenByteCount),
                    batch.id(at: batch.indices.lowerBound + request), into: &bytes,
                    at: (tokenAt + request * stride, idAt + request * stride))
                RequestFields.fill(body.count, into: &bytes, at: lengthAt + request * stride)
            }
        }
    }

    /// Returns the head of the first request.
    func filled(_ head: EncodedHead) -> EncodedHead {
        var filled = head
        let index = batch.indices.lowerBound
        let token = tokenByteCount == 0 ? [] : Array(batch.addressBytes(at: index))
        var bytes = filled.bytes.mutableSpan
        RequestFields.fill(
            token.span, batch.id(at: index), into: &bytes,
            at: (head.holes[RequestFields.tokenHole], head.holes[RequestFields.idHole]))
        RequestFields.fill(body.count, into: &bytes, at: head.holes[RequestFields.lengthHole])
        return filled
    }
}
