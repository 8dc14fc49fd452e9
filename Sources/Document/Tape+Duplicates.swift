extension Tape {
    /// Checks all mappings for repeated keys, compared after unescaping.
    ///
    /// Costs a few comparisons per key in small mappings and one hash (seeded per process) per key in larger ones.
    ///
    /// - Throws: A diagnostic at the second place of the first repeated key, with the first place as hint; or the
    ///   diagnostic of an exhausted budget.
    package func refuseDuplicateKeys(within budget: ReadingBudget = .unlimited) throws(Diagnostic) {
        var index = 0
        while index < events.count {
            if index % Self.eventsPerStep == 0 { try budget.spend() }
            if events[index].kind == .mapping, events[index].textLength > 1,
                let (first, second) = try duplicate(inMappingAt: index, budget)
            {
                let key = Node(tape: self, index: second)
                let place = Node(tape: self, index: first).place
                throw Diagnostic(
                    "the key \(Diagnostic.quoted(key.text)) appears twice",
                    hint: "keep one of them; the first is at line \(place.line), column \(place.column)",
                    at: key.place)
            }
            index += 1
        }
    }

    /// The number of events between two checks of the budget.
    private static let eventsPerStep = 4_096

    private func duplicate(inMappingAt index: Int, _ budget: ReadingBudget) throws(Diagnostic) -> (Int, Int)? {
        events[index].textLength <= 8 ? duplicateByComparison(index) : try duplicateByHash(index, budget)
    }

    private func duplicateByComparison(_ mapping: Int) -> (Int, Int)? {
        let end = events[mapping].next
        var later = nextKey(after: mapping + 1)
        while later < end {
            var earlier = mapping + 1
            while earlier < later {
                if hasSameText(earlier, later) { return (earlier, later) }
                earlier = nextKey(after: earlier)
            }
            later = nextKey(after: later)
        }
        return nil
    }

    private func duplicateByHash(_ mapping: Int, _ budget: ReadingBudget) throws(Diagnostic) -> (Int, Int)? {
        var first: [ArraySlice<UInt8>: Int] = [:]
        first.reserveCapacity(Int(events[mapping].textLength))
        var key = mapping + 1
        while key < events[mapping].next {
            if first.count % Self.eventsPerStep == 0 { try budget.spend() }
            if let earlier = first.updateValue(key, forKey: Node(tape: self, index: key).bytes) {
                return (earlier, key)
            }
            key = nextKey(after: key)
        }
        return nil
    }

    private func nextKey(after key: Int) -> Int { key + 1 < events.count ? events[key + 1].next : events.count }

    private func hasSameText(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (events[left], events[right])
        guard a.textLength == b.textLength else { return false }
        let (start, other) = (a.textRange.lowerBound, b.textRange.lowerBound)
        for offset in 0..<Int(a.textLength) {
            let byte = a.isInArena ? arena[start + offset] : source[start + offset]
            guard byte == (b.isInArena ? arena[other + offset] : source[other + offset]) else { return false }
        }
        return true
    }
}
