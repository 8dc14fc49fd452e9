/// A file's bytes as a program sees them, as they are safe, and the edits between.
struct MemoryFile: Sendable {
    private enum Edit: Sendable {
        case write(Int, [UInt8])
        case extend(Int)
        case clear(Range<Int>)

        /// Does the edit; `piece` says of each sector that it writes whether it gets there.
        func apply(to bytes: inout [UInt8], piece: (Int) -> Bool = { _ in true }) {
            switch self {
            case .write(let offset, let new):
                for start in stride(from: 0, to: new.count, by: sector) where piece(start / sector) {
                    let part = new[start..<min(start + sector, new.count)]
                    grow(&bytes, to: offset + start + part.count)
                    bytes.replaceSubrange((offset + start)..<(offset + start + part.count), with: part)
                }
            case .extend(let count): grow(&bytes, to: count)
            case .clear(let range):
                let range = range.clamped(to: 0..<bytes.count)
                bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
            }
        }

        private func grow(_ bytes: inout [UInt8], to count: Int) {
            if bytes.count < count { bytes += [UInt8](repeating: 0, count: count - bytes.count) }
        }
    }

    private(set) var now: [UInt8] = []
    private(set) var safe: [UInt8] = []
    private var edits: [Edit] = []

    mutating func write(_ bytes: [UInt8], at offset: Int) { apply(.write(offset, bytes)) }

    mutating func extend(to count: Int) { apply(.extend(count)) }

    mutating func clear(_ range: Range<Int>) { apply(.clear(range)) }

    mutating func sync() {
        // Edit by edit, because a copy of a journal for each sync would be slow.
        for edit in edits { edit.apply(to: &safe) }
        edits = []
    }

    /// What a power loss leaves of it.
    func remains(_ order: MemoryVolume.Order, _ chance: inout CrashChance) -> [UInt8] {
        switch chance {
        case .nothing: return safe
        case .everything: return now
        case .additions: return safe.isEmpty ? safe : now
        case .names, .arrivals, .mixed: break
        }
        guard !edits.isEmpty else { return safe }
        var bytes = safe
        switch order {
        case .ordered: keepBeginning(&bytes, &chance)
        case .loose:
            for edit in edits where chance.survives() {
                edit.apply(to: &bytes) { _ in chance.survives() }
            }
        }
        return bytes
    }

    /// Does the first edits, and a part of the next.
    private func keepBeginning(_ bytes: inout [UInt8], _ chance: inout CrashChance) {
        let count = chance.count(upTo: edits.count)
        for edit in edits.prefix(count) { edit.apply(to: &bytes) }
        guard count < edits.count, case .write(let offset, let new) = edits[count], chance.isMixed else { return }
        let kept = chance.count(upTo: new.count)
        Edit.write(offset, Array(new.prefix(kept))).apply(to: &bytes)
        // The length may be safe before the bytes are: then the rest is zeros.
        if chance.survives() { Edit.extend(offset + new.count).apply(to: &bytes) }
    }

    private mutating func apply(_ edit: Edit) {
        edits.append(edit)
        edit.apply(to: &now)
    }
}

private let sector = 512
