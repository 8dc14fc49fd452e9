import Document
import JobFormat
import PushModel

/// The tokens that feedback reports as gone, each once per app, with the newest `gone_since`.
///
/// Takes about 200 bytes of memory per token.
struct GoneList: Sendable {
    /// A token that is gone.
    struct Row: Hashable, Sendable {
        /// The app of the token.
        let app: String
        /// The token, in hexadecimal.
        let token: String
        /// When the token became invalid; `nil` if the gateway did not say. A registration after this time is still valid.
        let goneSince: WallTime?

        /// Its fields, in the order of `columns`.
        var fields: [String] { [app, token, goneSince?.rfc3339 ?? ""] }

        /// The row as a JSON object, with a line feed.
        var json: [UInt8] {
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
    static let columns = ["app", "token", "gone_since"]
    /// Earlier than any time from a gateway.
    private static let never = WallTime(nanoseconds: .min)

    private var times: [String: [String: WallTime]] = [:]

    /// Creates an empty list.
    init() {}

    /// Adds the token of a feedback line; lines without the verdict `gone` are ignored.
    mutating func note(_ line: Node) {
        guard line["verdict"]?.isText(Verdict.gone.rawValue) == true, let app = line["app"]?.string,
            let token = line["token"]?.string
        else { return }
        let time = line["gone_since"]?.string.flatMap { WallTime(rfc3339: $0) } ?? Self.never
        let known = times[app]?[token] ?? Self.never
        times[app, default: [:]][token] = max(known, time)
    }

    /// Calls `body` with each row, sorted by app and token.
    ///
    /// - Throws: Any error that `body` throws.
    func forEach(_ body: (Row) throws -> Void) rethrows {
        for (app, tokens) in times.sorted(by: { $0.key < $1.key }) {
            for token in tokens.keys.sorted() {
                let time = tokens[token] ?? Self.never
                try body(Row(app: app, token: token, goneSince: time == Self.never ? nil : time))
            }
        }
    }
}
