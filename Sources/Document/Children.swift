/// A sequence's elements; each step costs O(1).
package struct Elements: Sequence, IteratorProtocol, Sendable {
    private let tape: Tape
    private var index: Int
    private let end: Int

    init(of node: Node) {
        tape = node.tape
        index = node.index + 1
        end = node.kind == .sequence ? node.end : index
    }

    /// Returns the next element.
    package mutating func next() -> Node? {
        guard index < end else { return nil }
        let node = Node(tape: tape, index: index)
        index = node.end
        return node
    }
}

/// A key of a mapping with its value.
package struct Member: Sendable {
    /// The key.
    package let key: Node
    /// The value.
    package let value: Node
}

/// A mapping's members; each step costs O(1).
package struct Members: Sequence, IteratorProtocol, Sendable {
    private let tape: Tape
    private var index: Int
    private let end: Int

    init(of node: Node) {
        tape = node.tape
        index = node.index + 1
        end = node.kind == .mapping ? node.end : index
    }

    /// Returns the next member.
    package mutating func next() -> Member? {
        guard index + 1 < end else { return nil }
        let value = Node(tape: tape, index: index + 1)
        let member = Member(key: Node(tape: tape, index: index), value: value)
        index = value.end
        return member
    }
}

extension Node {
    /// The elements of a sequence in file order; empty for any other kind.
    package var elements: Elements { Elements(of: self) }

    /// The members of a mapping in file order; empty for any other kind.
    package var members: Members { Members(of: self) }

    /// The value of a key, or `nil` if the key is absent or this is not a mapping. Compares each member until it finds
    /// the key.
    package subscript(key: String) -> Node? {
        for member in members where member.key.isText(key) { return member.value }
        return nil
    }
}
