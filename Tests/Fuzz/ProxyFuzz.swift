/// What a proxy may answer to `CONNECT`. The same must come of the same bytes however they are cut.
enum ProxyFuzz {
    /// The first byte chooses the cuts, the rest is what the proxy sends.
    static func run(_ input: Span<UInt8>) {
        guard input.count > 1 else { return }
        let bytes = input.extracting(droppingFirst: 1).array
        var cuts = Cuts(seed: input[0])
        let whole = state(after: bytes) { $0 }
        let cut = state(after: bytes) { cuts.next(upTo: $0) }
        promise(whole == cut, "cuts make a difference: \(whole) \(cut)")
        guard case .refused(let status, let reason) = whole else { return }
        promise(!(100..<300).contains(status) && reason.utf8.count <= 60, "a refusal with \(status) \(reason)")
    }

    private static func state(after bytes: [UInt8], cut: (Int) -> Int) -> ProxyAnswer.State {
        var (answer, offset) = (ProxyAnswer(), 0)
        while offset < bytes.count {
            let end = offset + cut(bytes.count - offset)
            let state = answer.receive(bytes[offset..<end])
            offset = end
            switch state {
            case .incomplete: continue
            case .open(let rest): return .open(rest: rest + bytes[offset...])
            case .refused, .notHTTP, .tooLong: return state
            }
        }
        return .incomplete
    }
}
