import CNGHTTP2
package import HTTP2

/// Decodes header blocks with nghttp2's inflater, which owns the dynamic table.
@safe package final class HeaderDecoder: HeaderBlockDecoder {
    private let pointer: OpaquePointer
    /// Kept alive because the inflater uses it until it is deleted.
    private let memory = InflaterMemory()
    private let listLimit: Int

    /// Creates a decoder with an empty dynamic table.
    ///
    /// - Parameters:
    ///   - tableByteCount: The SETTINGS_HEADER_TABLE_SIZE sent to the peer. If it is below 4096, the peer's first block
    ///     must begin with a size update, which the peer sends once it has acknowledged those settings (RFC 7541 §4.2).
    ///   - listLimit: The maximum size of one list in bytes, counted as in RFC 9113 §6.5.2: names and values, and 32
    ///     for each.
    package init(tableByteCount: Int = 4096, listLimit: Int) {
        guard let inflater = unsafe memory.makeInflater() else {
            fatalError("out of memory for a header table")
        }
        unsafe pointer = inflater
        self.listLimit = listLimit
        if tableByteCount != 4096 { unsafe nghttp2_hd_inflate_change_table_size(inflater, tableByteCount) }
    }

    deinit { unsafe nghttp2_hd_inflate_del(pointer) }

    /// Appends the fields of one complete block. The block is not needed afterwards.
    ///
    /// - Throws: `.malformed`: the table is lost, so the connection must end (COMPRESSION_ERROR). `.tooLarge`: the list
    ///   exceeds the limit and only its beginning was appended; the table is intact, so it is enough to reset the stream.
    package func decode(_ block: Span<UInt8>, into fields: inout HeaderFields) throws(HeaderBlockFault) {
        var rest = Rest(listByteCount: 0, limit: listLimit)
        let isWhole = unsafe block.withUnsafeBufferPointer { bytes in
            unsafe inflate(bytes, counting: &rest, into: &fields)
        }
        guard isWhole else { throw .malformed }
        if rest.listByteCount > listLimit { throw .tooLarge }
    }

    /// The size of a list so far, and its limit.
    private struct Rest {
        var listByteCount: Int
        let limit: Int

        /// Counts a field. Returns whether the list is still within the limit.
        mutating func admits(_ byteCount: Int) -> Bool {
            listByteCount += byteCount + 32
            return listByteCount <= limit
        }
    }

    private func inflate(
        _ block: UnsafeBufferPointer<UInt8>, counting rest: inout Rest, into fields: inout HeaderFields
    ) -> Bool {
        var offset = 0
        var pair = unsafe nghttp2_nv()
        while true {
            var flags: Int32 = 0
            let start = unsafe block.baseAddress.map { unsafe $0 + offset }
            let count = unsafe nghttp2_hd_inflate_hd2(pointer, &pair, &flags, start, block.count - offset, 1)
            guard count >= 0 else { return false }
            offset += count
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                if rest.admits(unsafe pair.namelen + pair.valuelen) { unsafe fields.append(pair) }
            }
            guard flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) == 0 else { break }
        }
        return unsafe nghttp2_hd_inflate_end_headers(pointer) == 0
    }
}

extension HeaderFields {
    /// Appends a field of nghttp2's, with a copy of its memory.
    mutating func append(_ pair: nghttp2_nv) {
        let (nameByteCount, valueByteCount) = unsafe (pair.namelen, pair.valuelen)
        append(nameByteCount: nameByteCount, valueByteCount: valueByteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { space, count in
                let bytes = UnsafeMutableRawBufferPointer(space)
                unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: pair.name, count: nameByteCount))
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[nameByteCount...])
                unsafe rest.copyMemory(from: UnsafeRawBufferPointer(start: pair.value, count: valueByteCount))
                count = nameByteCount + valueByteCount
            }
        }
    }
}
