import Document
import JobFormat
import PushModel

/// The tokens and installations that feedback reports as gone, each once per app, with the newest `gone_since`.
///
/// Takes about 200 bytes of memory per token.
struct GoneList: Sendable {
    /// An address that is gone.
    struct Row: Hashable, Sendable {
        /// The app of the address.
        let app: String
        /// The address as it stands in feedback.
        let address: GoneAddress
        /// When the token became invalid; `nil` if the gateway did not say. A registration after this time is still valid.
        let goneSince: WallTime?

        /// Its fields, in the order of `columns`.
        var fields: [String] { [app, address.token, goneSince?.rfc3339 ?? "", address.installation] }

        /// The row as a JSON object, with a line feed.
        var json: [UInt8] {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("app", app)
            writer.member(address.key, address.text)
            writer.member("gone_since", goneSince?.rfc3339)
            writer.endObject()
            return writer.bytes + [UInt8(ascii: "\n")]
        }
    }

    /// An address with its key in feedback lines.
    struct GoneAddress: Hashable, Sendable {
        /// The keys of addresses that can be gone.
        static let keys = ["token", "fid"]

        let key: String
        let text: String

        /// The text if it is a token, else empty.
        var token: String { key == "token" ? text : "" }
        /// The text if it is an installation, else empty.
        var installation: String { key == "fid" ? text : "" }
    }

    /// The names of a row's fields.
    static let columns = ["app", "token", "gone_since", "fid"]
    /// Earlier than any time from a gateway.
    private static let never = WallTime(nanoseconds: .min)

    private var times: [String: [GoneAddress: WallTime]] = [:]

    /// Creates an empty list.
    init() {}

    /// Adds the address of a feedback line; lines without the verdict `gone` are ignored.
    mutating func note(_ line: Node) {
        guard line["verdict"]?.isText(Verdict.gone.rawValue) == true, let app = line["app"]?.string,
            let address = GoneAddress.keys.lazy.compactMap({ key in
                line[key]?.string.map { GoneAddress(key: key, text: $0) }
            }).first
        else { return }
        let time = line["gone_since"]?.string.flatMap { WallTime(rfc3339: $0) } ?? Self.never
        let known = times[app]?[address] ?? Self.never
        times[app, default: [:]][address] = max(known, time)
    }

    /// Calls `body` with each row, sorted by app and address.
    ///
    /// - Throws: Any error that `body` throws.
    func forEach(_ body: (Row) throws -> Void) rethrows {
        for (app, addresses) in times.sorted(by: { $0.key < $1.key }) {
            for (address, time) in addresses.sorted(by: { $0.key.text < $1.key.text }) {
                try body(Row(app: app, address: address, goneSince: time == Self.never ? nil : time))
            }
        }
    }
}
