import Document

extension SpoolStatus {
    /// The daemon's part in a cluster.
    package struct Cluster: Hashable, Sendable {
        /// The nodes whose journal somebody has, this one included, in order.
        package var nodes: [String]
        /// The nodes that have died and whose jobs this daemon finishes, in order.
        package var standsInFor: [String]
        /// Whether the node's lease is valid; if not, it sends and moves nothing.
        package var mayAct: Bool

        /// Creates a description.
        package init(nodes: [String], standsInFor: [String], mayAct: Bool) {
            (self.nodes, self.standsInFor, self.mayAct) = (nodes, standsInFor, mayAct)
        }

        /// Reads the member of a status; `nil` if it is malformed.
        init?(_ node: Node) {
            guard let nodes = node["nodes"]?.elements.map(\.string),
                let others = node["stands_in_for"]?.elements.map(\.string),
                let mayAct = node["may_act"]?.boolean
            else { return nil }
            self.init(nodes: nodes.compactMap(\.self), standsInFor: others.compactMap(\.self), mayAct: mayAct)
        }

        func write(to writer: inout JSONWriter) {
            writer.beginObject()
            for (key, names) in [("nodes", nodes), ("stands_in_for", standsInFor)] {
                writer.key(key)
                writer.beginArray()
                for name in names { writer.string(name) }
                writer.endArray()
            }
            writer.key("may_act")
            writer.boolean(mayAct)
            writer.endObject()
        }
    }
}
