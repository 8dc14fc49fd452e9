/// Something that takes the places from the end of the one before it up to its own.
protocol Stretch: Sendable {
    /// The place behind its last.
    var end: Int { get }
}

/// Stretches of places in their order, without those that lie before all that is still needed.
struct Stretches<Element: Stretch>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    /// The first that is kept.
    var first: Element? { head < elements.count ? elements[head] : nil }

    /// What the elements that are kept go by, until the next `trim`.
    var indices: Range<Int> { head..<elements.count }

    subscript(index: Int) -> Element { elements[index] }

    /// Adds the next.
    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Changes the last that is kept, in place; `false` if there is none, or if `change` says that it left it.
    mutating func changeLast(_ change: (inout Element) -> Bool) -> Bool {
        head < elements.count && change(&elements[elements.count - 1])
    }

    /// Forgets those that lie before a place.
    mutating func trim(before place: Int) {
        while head < elements.count, elements[head].end <= place { head += 1 }
        if head > 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// The index of the one that holds a place, by bisection.
    func index(of place: Int) -> Int {
        var (low, high) = (head, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].end <= place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
