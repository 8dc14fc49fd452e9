import Glibc

/// What libFuzzer calls with each input. A trap, a memory error or a leak is a find; whatever returns is well.
@c(LLVMFuzzerTestOneInput)
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    Harness.chosen.run(unsafe bytes.span)
    return 0
}

extension Harness {
    /// The one that the environment variable `FUZZ` names.
    fileprivate static let chosen: Harness = {
        let name = unsafe getenv("FUZZ").map { unsafe String(cString: $0) } ?? ""
        guard let harness = Harness(rawValue: name) else {
            fatalError("FUZZ must be one of \(Harness.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return harness
    }()
}

/// Stops with a find: a decoder has broken a promise without trapping by itself.
func promise(_ isKept: Bool, _ words: @autoclosure () -> String) {
    guard isKept else { fatalError("broken promise: \(words())") }
}
