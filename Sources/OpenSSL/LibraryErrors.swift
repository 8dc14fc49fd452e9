import COpenSSL

/// The entries that a failed call left in the thread's error queue, oldest first.
struct LibraryErrors {
    /// One entry of the queue.
    struct Entry: Hashable {
        /// ERR_LIB_…
        let library: Int32
        /// The reason code of that library.
        let reason: Int32
        /// OpenSSL's message, with its additional data.
        let text: String
    }

    let entries: [Entry]

    /// Empties the queue. Call it before a call whose errors will be read.
    static func clear() { ERR_clear_error() }

    /// Empties the queue and returns its entries.
    static func drain() -> LibraryErrors {
        var entries: [Entry] = []
        var data: UnsafePointer<CChar>?
        var flags: Int32 = 0
        while case let code = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags), code != 0 {
            entries.append(unsafe Entry(code: code, data: flags & ERR_TXT_STRING == 0 ? nil : data))
        }
        return LibraryErrors(entries: entries)
    }

    /// The alert that the peer sent, if that was the error.
    var alert: TLSAlert? {
        for entry in entries where entry.library == ERR_LIB_SSL {
            if let number = UInt8(exactly: entry.reason - shim_SSL_alert_offset()) { return TLSAlert(rawValue: number) }
        }
        return nil
    }

    /// Whether an entry has this reason.
    func has(_ library: Int32, _ reason: Int32) -> Bool {
        entries.contains { $0.library == library && $0.reason == reason }
    }

    /// Whether no loaded provider has a requested algorithm. The text then names it.
    var lacksAlgorithm: Bool {
        entries.contains { $0.library == ERR_LIB_EVP && $0.text.contains("Algorithm (") }
    }

    /// All entries in one line.
    var text: String {
        entries.isEmpty ? "no reason given" : entries.map(\.text).joined(separator: "; ")
    }

    /// The error for a call that fails only if OpenSSL itself does.
    func asFailure() -> TLSError { TLSError(.library, "OpenSSL failed: \(text)") }
}

extension LibraryErrors.Entry {
    init(code: CUnsignedLong, data: UnsafePointer<CChar>?) {
        library = ERR_GET_LIB(code)
        reason = ERR_GET_REASON(code)
        let words =
            if let reason = unsafe ERR_reason_error_string(code) { unsafe String(cString: reason) } else {
                "error \(String(code, radix: 16))"
            }
        let added = if let data = unsafe data { unsafe String(cString: data) } else { "" }
        text = added.isEmpty ? words : "\(words) (\(added))"
    }
}
