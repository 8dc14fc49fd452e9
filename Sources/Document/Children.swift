/// The elements of a sequence, one step each.
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
    /// Its value.
    package let value: Node
}

/// The members of a mapping, one step each.
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
    /// The elements of a sequence in the order of the file; none for any other kind.
    package var elements: Elements { Elements(of: self) }

    /// The members of a mapping in the order of the file; none for any other kind.
    package var members: Members { Members(of: self) }

    /// The value of a key. Costs a look at each member; `nil` if there is none or this is no mapping.
    package subscript(key: String) -> Node? {
        for member in members where member.key.isText(key) { return member.value }
        return nil
    }
}
