import Document

/// The parameters of a call, by their position.
struct CallParameters {
    private let values: [Node]

    /// Creates the parameters from the array that `MethodCall` has.
    init(_ array: Node) {
        values = Array(array.elements)
    }

    /// Checks the number of parameters. `form` shows the method with all of them.
    ///
    /// - Throws: -32602 if there are more or fewer.
    func requireCount(_ range: ClosedRange<Int>, of form: String) throws(MethodFault) {
        guard range.contains(values.count) else {
            throw .invalidParameters("the call has \(values.count) parameters; call \(form)")
        }
    }

    /// Returns a parameter; `nil` if it is absent or null.
    subscript(index: Int) -> Node? {
        values.indices.contains(index) && !values[index].isNull ? values[index] : nil
    }

    /// Returns a parameter that must be a string.
    ///
    /// - Throws: -32602 if it is anything else.
    func text(_ index: Int, _ name: String) throws(MethodFault) -> String {
        guard let text = self[index]?.string else { throw mismatch(name, "a string", self[index]) }
        return text
    }

    /// Returns a whole number above 0; `nil` if it is absent or null.
    ///
    /// - Throws: -32602 if it is anything else, or beyond 32 bits.
    func positiveInteger(_ index: Int, _ name: String) throws(MethodFault) -> Int? {
        guard let node = self[index] else { return nil }
        guard let value = node.integer, (1...Int(Int32.max)).contains(value) else {
            throw mismatch(name, "a whole number, 1 or greater", node)
        }
        return value
    }

    /// Returns the fault of a parameter that has the wrong type. Does not quote it: it may be a token or a certificate.
    func mismatch(_ name: String, _ expected: String, _ got: Node?) -> MethodFault {
        .invalidParameters("\(name): must be \(expected) (got \(got?.kindName ?? "nil"))")
    }
}
