extension Tape {
    /// Begins a mapping or sequence. Returns its index for `closeContainer`.
    package mutating func openContainer(_ kind: Node.Kind, at offset: Int) -> Int {
        events.append(Event(kind, raw: offset..<offset, next: events.count + 1))
        return events.count - 1
    }

    /// Ends the mapping or sequence that was begun at an index.
    package mutating func closeContainer(_ index: Int, count: Int, end: Int) {
        guard events.indices.contains(index) else { return }
        events[index].rawLength = UInt32(truncatingIfNeeded: max(0, end - events[index].rawRange.lowerBound))
        events[index].textLength = UInt32(truncatingIfNeeded: count)
        events[index].next = events.count
    }

    /// Adds a key or scalar whose text is in the source.
    package mutating func append(_ kind: Node.Kind, raw: Range<Int>, text: Range<Int>) {
        events.append(Event(kind, raw: raw, text: text, next: events.count + 1))
    }

    /// Adds a key or scalar whose text differs from the source. The text is stored in the arena.
    package mutating func append(_ kind: Node.Kind, raw: Range<Int>, decoded text: some Collection<UInt8>) {
        let start = arena.count
        arena.append(contentsOf: text)
        events.append(
            Event(kind, raw: raw, text: start..<arena.count, isInArena: true, next: events.count + 1))
    }
}
