import Document

/// Hands a document to libyaml, 16 KiB at a time, and asks before each piece whether reading may go on.
///
/// libyaml may read a whole document for one event: a comment, or directives. A check between events would come late.
@safe final class Feed {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private let budget: ReadingBudget
    /// Why no more is handed out, if that is so; libyaml then reports a fault of its input.
    private(set) var ending: Diagnostic?

    /// Creates a feed of bytes that outlive it.
    init(_ bytes: UnsafeRawBufferPointer, _ budget: ReadingBudget) {
        unsafe self.bytes = bytes
        self.budget = budget
    }

    /// Fills libyaml's buffer; the data is the feed. Returns 1, or 0 to end the reading.
    static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from data: UnsafeMutableRawPointer?,
        _ count: UnsafeMutablePointer<Int>?
    ) -> Int32 {
        guard let data = unsafe data, let count = unsafe count else { return 0 }
        let feed = unsafe Unmanaged<Feed>.fromOpaque(data).takeUnretainedValue()
        guard let copied = unsafe feed.copy(into: buffer) else { return 0 }
        unsafe count.pointee = copied
        return 1
    }

    /// Copies the next bytes. Returns how many, 0 at the end; `nil` if there are to be no more.
    private func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do throws(Diagnostic) {
            try budget.spend()
        } catch {
            ending = error
            return nil
        }
        let count = unsafe min(buffer.count, bytes.count - position)
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[position..<position + count]))
        position += count
        return count
    }
}
