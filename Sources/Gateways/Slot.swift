import PushModel

/// A place for one connection after the other.
struct Slot: Hashable {
    /// The notifications that its connections take.
    let route: Route
    /// How many connections of the route must be exhausted before it opens one.
    let rank: Int
}

/// The kinds of notifications that have connections of their own: Apple serves broadcasts at other hosts.
enum Route: Int, CaseIterable {
    case devices, broadcasts

    /// The route of a batch's notifications.
    init(_ batch: Batch) { self = batch.attributes.addressKind == .channel ? .broadcasts : .devices }
}
