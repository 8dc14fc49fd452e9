import LinuxIO

/// What a protocol brings to a gateway: its connections, the rules of its queue, and its configuration.
///
/// Owned by its gateway, on the reactor. The calls of one gateway for its slots and draining connections interleave.
protocol Wire: AnyObject, SendableMetatype {
    associatedtype Session: GatewaySession
    associatedtype Queue: WireQueue
    associatedtype Configuration: WireConfiguration

    /// Creates an empty queue; `announces` as for `WorkQueue`.
    static func makeQueue(_ configuration: Configuration, announces: Bool) -> Queue

    /// Creates the wire of a gateway.
    init(_ work: GatewayWork<Self>)

    /// Makes the queue fit the configuration, which has changed, and forgets what was learnt of the old credentials.
    func reconfigure()

    /// Opens a connection, sends on it until it takes no more, and returns the pause before the next connect.
    ///
    /// Keeps the lease until the connection is closed, which may be after the call returns.
    func serve(_ slot: Slot, holding lease: DescriptorLease?) async -> Duration

    /// Waits for the last answers of a draining connection, and closes it.
    func serveToTheEnd(_ number: Int) async
}

/// A configuration of a gateway: what all have, and what the protocol adds.
@dynamicMemberLookup
package protocol WireConfiguration: Sendable {
    /// What gateways of all protocols are configured with.
    var settings: GatewaySettings { get set }
    /// The maximum number of notifications without an outcome on a connection.
    var window: Int { get }
}

extension WireConfiguration {
    /// What gateways of all protocols are configured with.
    package subscript<Value>(dynamicMember path: WritableKeyPath<GatewaySettings, Value>) -> Value {
        get { settings[keyPath: path] }
        set { settings[keyPath: path] = newValue }
    }
}
