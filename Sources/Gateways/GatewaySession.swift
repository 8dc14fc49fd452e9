/// The part of a connection that its gateway uses, for either protocol.
protocol GatewaySession: AnyObject {
    /// The slot that opened it.
    var slot: Slot { get }
    /// The generation of its configuration; see `GatewayState.generation`.
    var generation: Int { get }
    /// The number of notifications that were written and have no outcome.
    var doubtCount: Int { get }
    /// How many of them the gateway's meter includes; see `GatewayState.count`.
    var countedDoubt: Int { get set }
    /// The number of notifications it has room for now, if `inherited` others take a part of its window.
    func room(besides inherited: Int) -> Int
    /// Passes ciphertext to the kernel.
    func flush()
    /// Whether it has all the notifications it may have at a time. Only then is another connection useful.
    var isExhausted: Bool { get }
    /// Makes it check the state again.
    func wake()
}
