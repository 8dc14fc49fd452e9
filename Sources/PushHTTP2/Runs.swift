/// A run of places, from the end of the run before it up to its own end.
protocol EndedRun: Sendable {
    /// The place after its last.
    var end: Int { get }
}

/// The runs of places, in order. Runs before the oldest place still needed are dropped.
struct Runs<Element: EndedRun>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    /// The first kept run.
    var first: Element? { head < elements.count ? elements[head] : nil }

    /// The indices of the kept runs, valid until the next `trim`.
    var indices: Range<Int> { head..<elements.count }

    subscript(index: Int) -> Element { elements[index] }

    /// Adds the next run.
    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Changes the last kept run in place. Returns `false` if there is none, or if `change` left it as it was.
    mutating func changeLast(_ change: (inout Element) -> Bool) -> Bool {
        head < elements.count && change(&elements[elements.count - 1])
    }

    /// Drops the runs before a place.
    mutating func trim(before place: Int) {
        while head < elements.count, elements[head].end <= place { head += 1 }
        if head > 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// Finds the index of the run that holds a place, by bisection.
    func index(of place: Int) -> Int {
        var (low, high) = (head, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].end <= place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
