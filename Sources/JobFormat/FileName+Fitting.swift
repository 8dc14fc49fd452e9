extension FileName {
    /// Returns the name for the `number`th file of this name in a folder: the name itself for 1, `job~2.json` for 2.
    ///
    /// A name longer than `limit`, which must be at least 64 bytes, is cut as in `shortened(toFit:)`.
    package func numbered(_ number: Int, toFit limit: Int = byteLimit) -> FileName {
        precondition(number >= 1, "names are numbered from 1")
        guard number > 1 else { return shortened(toFit: limit) }
        return fitted(suffix: Array("~\(number)".utf8), limit: limit)
    }

    /// Whether `numbered` makes this name from `name` with a number above 1.
    package func isNumbered(from name: FileName, toFit limit: Int = byteLimit) -> Bool {
        guard let mark = stem.lastIndex(of: UInt8(ascii: "~")),
            let number = Int(String(decoding: stem[(mark + 1)...], as: UTF8.self)), number > 1
        else { return false }
        return self == name.numbered(number, toFit: limit)
    }

    /// Returns the name if it fits; otherwise cuts it before its ending and adds 8 digits hashed from the whole name:
    /// `Weihnachten-an-al~1f00ba44.json`.
    ///
    /// The cut does not split a UTF-8 character. The same name always gives the same result. Two names that differ only
    /// beyond the cut get different digits, except for one pair in four billion. The limit must be at least 64 bytes.
    package func shortened(toFit limit: Int) -> FileName {
        fitted(suffix: [], limit: limit)
    }

    private func fitted(suffix: [UInt8], limit: Int) -> FileName {
        precondition(limit >= 64, "too little room for a name")
        guard bytes.count + suffix.count > limit else {
            return suffix.isEmpty ? self : FileName(checked: stem + suffix + ending)
        }
        let mark = Array("~".utf8) + mark.utf8
        // The ending of a name that is not a job's may be nearly the whole name.
        let ending = ending.count <= 16 ? ending : []
        let stem = ending.isEmpty ? bytes[...] : stem
        let room = limit - suffix.count - mark.count - ending.count
        return FileName(checked: stem.prefix(wholeCharacters(of: stem, upTo: room)) + mark + suffix + ending)
    }

    /// 32 bits of FNV-1a over the name, in hexadecimal.
    private var mark: String {
        let hash = bytes.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// Returns the largest count up to `limit` that does not split a UTF-8 character.
private func wholeCharacters(of bytes: ArraySlice<UInt8>, upTo limit: Int) -> Int {
    guard limit < bytes.count else { return bytes.count }
    // A UTF-8 character has at most 3 continuation bytes. A longer run of them is not UTF-8, and is cut anywhere.
    for back in 0..<min(4, limit) where bytes[bytes.startIndex + limit - back] & 0xC0 != 0x80 {
        return limit - back
    }
    return limit
}
