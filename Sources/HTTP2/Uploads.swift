/// A request body that did not fit when its stream was opened, and the number of bytes sent.
struct Upload: Sendable {
    let stream: UInt32
    let body: [UInt8]
    var offset = 0
    /// Whether the stream's own window is used up.
    var isStalled = false

    var remaining: Int { body.count - offset }
}

/// The request bodies that are not completely sent. Those whose own streams have no window are stalled; the others wait
/// in a queue for the connection's. Every operation but `wakeAll` costs O(1), amortized.
struct Uploads: Sendable {
    private var uploads: [UInt32: Upload] = [:]
    /// The streams of the bodies that are not stalled, from `head` on, in their order. Some may have been removed.
    private var queue: [UInt32] = []
    private var head = 0

    /// The first body in the queue.
    var first: Upload? {
        mutating get {
            while head < queue.count {
                if let upload = uploads[queue[head]] { return upload }
                head += 1
            }
            queue.removeAll(keepingCapacity: true)
            head = 0
            return nil
        }
    }

    /// Whether all bodies are completely sent.
    var isEmpty: Bool { uploads.isEmpty }

    /// Whether a stream's body is not completely sent.
    func isWaiting(_ stream: UInt32) -> Bool { uploads[stream] != nil }

    /// Appends a body to the queue.
    mutating func append(_ upload: Upload) {
        uploads[upload.stream] = upload
        queue.append(upload.stream)
    }

    /// Stores the progress of the first body in the queue. A stalled one leaves the queue.
    mutating func update(first upload: Upload) {
        uploads[upload.stream] = upload
        if upload.isStalled { head += 1 }
    }

    /// Removes the body of a stream. Returns `false` if there is none.
    @discardableResult
    mutating func remove(_ stream: UInt32) -> Bool {
        guard !uploads.isEmpty, uploads.removeValue(forKey: stream) != nil else { return false }
        // While no window opens, nothing passes through the queue, but requests may end.
        if queue.count > 2 * uploads.count + 64 {
            queue = queue[head...].filter { uploads[$0] != nil }
            head = 0
        }
        return true
    }

    /// Returns the body of a stream to the end of the queue, because its window has grown. Returns whether it was stalled.
    mutating func wake(_ stream: UInt32) -> Bool {
        guard uploads[stream]?.isStalled == true else { return false }
        uploads[stream]?.isStalled = false
        queue.append(stream)
        return true
    }

    /// Returns all stalled bodies to the queue, lower streams first, because the windows of all streams have grown.
    mutating func wakeAll() {
        let stalled = uploads.values.filter(\.isStalled).map(\.stream)
        for stream in stalled.sorted() { _ = wake(stream) }
    }
}
