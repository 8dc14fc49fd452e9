import CNGHTTP2

/// Memory for one inflater, which asks for the same few sizes over and over, four times a header field.
///
/// What is given back is kept for the next request of its size class; larger pieces go to the C library. Belongs to one
/// inflater, and must outlive it.
@safe final class InflaterMemory {
    /// Pieces of up to so many bytes are kept, in classes of `grain` bytes.
    private static let keptByteCount = 512
    private static let grain = 64
    /// Before each piece stands its size, in as many bytes as keep what follows aligned.
    private static let headByteCount = 16

    /// The pieces of each class that are free; the first bytes of each lead to the next.
    private var free = unsafe [UnsafeMutableRawPointer?](repeating: nil, count: keptByteCount / grain)
    /// The inflater keeps a pointer to it.
    private let functions = UnsafeMutablePointer<nghttp2_mem>.allocate(capacity: 1)

    init() {
        unsafe functions.initialize(
            to: nghttp2_mem(
                mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
                malloc: { size, memory in unsafe InflaterMemory.of(memory)?.allocate(size) },
                free: { piece, memory in unsafe InflaterMemory.of(memory)?.release(piece) },
                calloc: { count, size, memory in
                    let piece = unsafe InflaterMemory.of(memory)?.allocate(count * size)
                    unsafe piece?.initializeMemory(as: UInt8.self, repeating: 0, count: count * size)
                    return unsafe piece
                },
                realloc: { piece, size, memory in unsafe InflaterMemory.of(memory)?.resize(piece, to: size) }))
    }

    deinit {
        for kind in unsafe free.indices {
            while let head = unsafe free[kind] {
                unsafe free[kind] = unsafe head.load(as: UnsafeMutableRawPointer?.self)
                unsafe head.deallocate()
            }
        }
        unsafe functions.deallocate()
    }

    /// Makes an inflater that takes its memory from here; `nil` when there is none.
    func makeInflater() -> OpaquePointer? {
        var inflater: OpaquePointer?
        guard unsafe nghttp2_hd_inflate_new2(&inflater, functions) == 0 else { return nil }
        return unsafe inflater
    }

    private static func of(_ memory: UnsafeMutableRawPointer?) -> InflaterMemory? {
        unsafe memory.map { unsafe Unmanaged<InflaterMemory>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The class of a size; `nil` for one that is not kept.
    private static func kind(of byteCount: Int) -> Int? {
        byteCount <= keptByteCount ? max(0, byteCount - 1) / grain : nil
    }

    private func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        let head: UnsafeMutableRawPointer
        if let kind = Self.kind(of: byteCount), let first = unsafe free[kind] {
            unsafe free[kind] = unsafe first.load(as: UnsafeMutableRawPointer?.self)
            unsafe head = first
        } else {
            let room = Self.kind(of: byteCount).map { ($0 + 1) * Self.grain } ?? byteCount
            unsafe head = .allocate(byteCount: Self.headByteCount + room, alignment: Self.headByteCount)
        }
        unsafe head.storeBytes(of: byteCount, as: Int.self)
        return unsafe head + Self.headByteCount
    }

    private func release(_ piece: UnsafeMutableRawPointer?) {
        guard let piece = unsafe piece else { return }
        let head = unsafe piece - Self.headByteCount
        guard let kind = Self.kind(of: unsafe head.load(as: Int.self)) else { return unsafe head.deallocate() }
        unsafe head.storeBytes(of: free[kind], as: UnsafeMutableRawPointer?.self)
        unsafe free[kind] = head
    }

    private func resize(_ piece: UnsafeMutableRawPointer?, to byteCount: Int) -> UnsafeMutableRawPointer? {
        guard let old = unsafe piece else { return unsafe allocate(byteCount) }
        guard let new = unsafe allocate(byteCount) else { return nil }
        let count = unsafe min(byteCount, (old - Self.headByteCount).load(as: Int.self))
        unsafe new.copyMemory(from: old, byteCount: count)
        unsafe release(old)
        return unsafe new
    }
}
