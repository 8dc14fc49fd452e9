/// A request body that did not fit when its stream was opened, and the number of bytes sent.
struct Upload: Sendable {
    let stream: UInt32
    let body: [UInt8]
    var offset = 0

    var remaining: Int { body.count - offset }
}

/// The unfinished bodies, by ascending stream number.
struct Uploads: Sendable {
    private var uploads: [Upload] = []

    var isEmpty: Bool { uploads.isEmpty }
    var indices: Range<Int> { uploads.indices }

    subscript(index: Int) -> Upload {
        get { uploads[index] }
        set { uploads[index] = newValue }
    }

    /// Appends a body. Its stream number must be higher than all others.
    mutating func append(_ upload: Upload) {
        uploads.append(upload)
    }

    /// Removes the body of a stream. Returns `false` if there is none.
    @discardableResult
    mutating func remove(_ stream: UInt32) -> Bool {
        guard !uploads.isEmpty else { return false }
        var range = uploads.startIndex..<uploads.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if uploads[middle].stream == stream {
                uploads.remove(at: middle)
                return true
            }
            range = uploads[middle].stream < stream ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }

    /// Removes the finished bodies.
    mutating func removeFinished(_ isFinished: (Upload) -> Bool) {
        uploads.removeAll(where: isFinished)
    }
}
