import LinuxIO

/// Names for one node's short-lived files, in folders where other users may create files too.
///
/// Each name is new and cannot be guessed. Otherwise another user could create a folder with a known name, which a file
/// cannot replace.
struct PassingNames {
    /// How many names in a folder are checked, so that a million waiting jobs do not delay the start of an app.
    private static let lookLimit = 10_000

    private let head: [UInt8]
    private let tail: [UInt8]

    /// Creates names with this head and tail; the head ends in the node's name.
    init(_ head: String, _ tail: String = "") {
        (self.head, self.tail) = (Array(head.utf8), Array(tail.utf8))
    }

    /// Returns a name that was never used: head, `-`, 16 random hexadecimal digits, tail.
    func next() -> [UInt8] {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        let random = "-" + String(repeating: "0", count: 16 - digits.count) + digits
        return head + Array(random.utf8) + tail
    }

    /// Whether a name is one of these, or has nothing between head and tail, as older versions created it.
    ///
    /// Excludes the names of a node whose own name begins with this node's name.
    func contains(_ name: [UInt8]) -> Bool {
        guard name.starts(with: head), name.dropFirst(head.count).count >= tail.count,
            name.suffix(tail.count).elementsEqual(tail)
        else { return false }
        let random = name.dropFirst(head.count).dropLast(tail.count)
        guard let first = random.first else { return true }
        return first == UInt8(ascii: "-") && random.count == 17
            && random.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Removes files that a crash left, as far as they are found early in the listing and can be removed. Leftover
    /// files do no harm.
    func removeAll(in directory: Directory) {
        do throws(SystemError) {
            var listing = try directory.listing()
            for _ in 0..<Self.lookLimit {
                guard let entry = try listing.next() else { return }
                if contains(entry.name) { _ = try? directory.unlink(entry.name) }
            }
        } catch {
            return
        }
    }
}
