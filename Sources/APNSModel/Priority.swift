/// The priority of the delivery to the device. It does not affect the daemon's own queue.
package enum Priority: UInt8, CaseIterable, Hashable, Sendable {
    /// 10: deliver immediately.
    case immediate = 10
    /// 5: deliver with regard to the device's power.
    case powerSaving = 5
    /// 1: never wake the device.
    case lowest = 1
}
