import CNGHTTP2

/// An allocator for one inflater, which requests the same few sizes repeatedly, four times per header field.
///
/// Keeps released blocks for the next request of their size class; larger blocks use the C library. Belongs to one
/// inflater and must outlive it.
@safe final class InflaterMemory {
    /// The largest block in bytes that is kept, in size classes of `grain` bytes.
    private static let keptByteCount = 512
    private static let grain = 64
    /// The size of the header before each block, which stores the block's size and keeps the block aligned.
    private static let headByteCount = 16

    /// The free list of each size class. The first bytes of each free block point to the next.
    ///
    /// Allocated separately and passed to the C library as a pointer. A property of this object would cost a lookup,
    /// reference counting and an exclusivity check in each of millions of calls.
    private typealias FreePieces = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private let free = FreePieces.allocate(capacity: kindCount)
    private static let kindCount = keptByteCount / grain
    /// Allocated separately because the inflater keeps a pointer to it.
    private let functions = UnsafeMutablePointer<nghttp2_mem>.allocate(capacity: 1)

    init() {
        unsafe free.initialize(repeating: nil, count: Self.kindCount)
        unsafe functions.initialize(
            to: nghttp2_mem(
                mem_user_data: free,
                malloc: { size, memory in unsafe InflaterMemory.allocate(size, from: InflaterMemory.pieces(memory)) },
                free: { piece, memory in unsafe InflaterMemory.release(piece, to: InflaterMemory.pieces(memory)) },
                calloc: { count, size, memory in
                    let piece = unsafe InflaterMemory.allocate(count * size, from: InflaterMemory.pieces(memory))
                    unsafe piece?.initializeMemory(as: UInt8.self, repeating: 0, count: count * size)
                    return unsafe piece
                },
                realloc: { piece, size, memory in
                    unsafe InflaterMemory.resize(piece, to: size, with: InflaterMemory.pieces(memory))
                }))
    }

    deinit {
        for kind in 0..<Self.kindCount {
            while let head = unsafe free[kind] {
                unsafe free[kind] = unsafe head.load(as: UnsafeMutableRawPointer?.self)
                unsafe head.deallocate()
            }
        }
        unsafe free.deallocate()
        unsafe functions.deallocate()
    }

    /// Creates an inflater that allocates from this object; `nil` if there is not enough memory.
    func makeInflater() -> OpaquePointer? {
        var inflater: OpaquePointer?
        guard unsafe nghttp2_hd_inflate_new2(&inflater, functions) == 0 else { return nil }
        return unsafe inflater
    }

    private static func pieces(_ memory: UnsafeMutableRawPointer?) -> FreePieces? {
        unsafe memory?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    /// Returns the class of a size, or `nil` if blocks of this size are not kept.
    private static func kind(of byteCount: Int) -> Int? {
        byteCount <= keptByteCount ? max(0, byteCount - 1) / grain : nil
    }

    private static func allocate(_ byteCount: Int, from free: FreePieces?) -> UnsafeMutableRawPointer? {
        guard let free = unsafe free else { return nil }
        let head: UnsafeMutableRawPointer
        if let kind = kind(of: byteCount), let first = unsafe free[kind] {
            unsafe free[kind] = unsafe first.load(as: UnsafeMutableRawPointer?.self)
            unsafe head = first
        } else {
            let room = kind(of: byteCount).map { ($0 + 1) * grain } ?? byteCount
            unsafe head = .allocate(byteCount: headByteCount + room, alignment: headByteCount)
        }
        unsafe head.storeBytes(of: byteCount, as: Int.self)
        return unsafe head + headByteCount
    }

    private static func release(_ piece: UnsafeMutableRawPointer?, to free: FreePieces?) {
        guard let piece = unsafe piece, let free = unsafe free else { return }
        let head = unsafe piece - headByteCount
        guard let kind = kind(of: unsafe head.load(as: Int.self)) else { return unsafe head.deallocate() }
        unsafe head.storeBytes(of: free[kind], as: UnsafeMutableRawPointer?.self)
        unsafe free[kind] = head
    }

    private static func resize(
        _ piece: UnsafeMutableRawPointer?, to byteCount: Int, with free: FreePieces?
    ) -> UnsafeMutableRawPointer? {
        guard let old = unsafe piece else { return unsafe allocate(byteCount, from: free) }
        guard let new = unsafe allocate(byteCount, from: free) else { return nil }
        let count = unsafe min(byteCount, (old - headByteCount).load(as: Int.self))
        unsafe new.copyMemory(from: old, byteCount: count)
        unsafe release(old, to: free)
        return unsafe new
    }
}
