import LinuxIO

/// Names of one node's files that are there for a moment, in folders where others may make names too.
///
/// Each is new, and nobody can guess it: somebody could make a folder of a name that is known, and no file can replace
/// that.
struct PassingNames {
    /// How many names of a folder are looked at: a million jobs that wait keep no app from starting at once.
    private static let lookLimit = 10_000

    private let head: [UInt8]
    private let tail: [UInt8]

    /// Names that begin and end so; the first ends in the node's name.
    init(_ head: String, _ tail: String = "") {
        (self.head, self.tail) = (Array(head.utf8), Array(tail.utf8))
    }

    /// A name that was never there: between head and tail `-` and 16 random hexadecimal digits.
    func next() -> [UInt8] {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        let random = "-" + String(repeating: "0", count: 16 - digits.count) + digits
        return head + Array(random.utf8) + tail
    }

    /// Whether it is one of these, or has nothing between head and tail, as older versions made it.
    ///
    /// Names of a node whose own name goes on after this one's are none.
    func contains(_ name: [UInt8]) -> Bool {
        guard name.starts(with: head), name.dropFirst(head.count).count >= tail.count,
            name.suffix(tail.count).elementsEqual(tail)
        else { return false }
        let random = name.dropFirst(head.count).dropLast(tail.count)
        guard let first = random.first else { return true }
        return first == UInt8(ascii: "-") && random.count == 17
            && random.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Removes what a crash has left of them, as far as it is soon found and can be removed: it is in nobody's way.
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
