package import APNSModel
package import Document

/// The tokens that feedback says are gone, each once for its app, with the newest time since when.
///
/// Takes some 200 bytes of memory for each.
package struct GoneList: Sendable {
    /// A token that is gone.
    package struct Row: Hashable, Sendable {
        /// The app it was of.
        package let app: String
        /// The token, in hexadecimal.
        package let token: String
        /// Since when; `nil` if the gateway did not say. What was registered later is not meant.
        package let goneSince: WallTime?

        /// Its fields, in the order of `columns`.
        package var fields: [String] { [app, token, goneSince?.rfc3339 ?? ""] }

        /// It as a JSON object, with a line feed.
        package var json: [UInt8] {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("app", app)
            writer.member("token", token)
            writer.member("gone_since", goneSince?.rfc3339)
            writer.endObject()
            return writer.bytes + [UInt8(ascii: "\n")]
        }
    }

    /// The names of a row's fields.
    package static let columns = ["app", "token", "gone_since"]
    /// Earlier than all times that a gateway says.
    private static let never = WallTime(nanoseconds: .min)

    private var times: [String: [String: WallTime]] = [:]

    /// None yet.
    package init() {}

    /// Takes a line of feedback; only those with the verdict `gone` count.
    package mutating func note(_ line: Node) {
        guard line["verdict"]?.isText(Verdict.gone.rawValue) == true, let app = line["app"]?.string,
            let token = line["token"]?.string
        else { return }
        let time = line["gone_since"]?.string.flatMap { WallTime(rfc3339: $0) } ?? Self.never
        let known = times[app]?[token] ?? Self.never
        times[app, default: [:]][token] = max(known, time)
    }

    /// Calls `body` with each, by app and token.
    ///
    /// - Throws: What `body` throws.
    package func forEach(_ body: (Row) throws -> Void) rethrows {
        for (app, tokens) in times.sorted(by: { $0.key < $1.key }) {
            for token in tokens.keys.sorted() {
                let time = tokens[token] ?? Self.never
                try body(Row(app: app, token: token, goneSince: time == Self.never ? nil : time))
            }
        }
    }
}
