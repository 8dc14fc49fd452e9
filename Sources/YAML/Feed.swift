import Document

/// Supplies a document to libyaml in pieces of 16 KiB and checks the budget before each piece.
///
/// libyaml may read a whole document for one event, such as a comment or directives, so a check between events would
/// come too late.
@safe final class Feed {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private let budget: ReadingBudget
    /// The reason why the feed stopped, if it did; libyaml then reports an input error.
    private(set) var ending: Diagnostic?

    /// Creates a feed of bytes that outlive it.
    init(_ bytes: UnsafeRawBufferPointer, _ budget: ReadingBudget) {
        unsafe self.bytes = bytes
        self.budget = budget
    }

    /// Fills libyaml's buffer; `data` is the feed. Returns 1, or 0 to stop the parser.
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

    /// Copies the next bytes. Returns their number, 0 at the end, or `nil` if the budget is spent.
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
