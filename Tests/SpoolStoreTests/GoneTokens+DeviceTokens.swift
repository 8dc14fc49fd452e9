import LinuxIO
import PushModel
import SpoolStore

/// The log with device tokens, as most of its tests use it.
extension GoneTokens {
    func goneSince(_ token: ArraySlice<UInt8>, registeredAt: WallTime?) throws(SystemError) -> WallTime? {
        try goneSince(.deviceToken, token, registeredAt: registeredAt)
    }

    func remember(_ token: ArraySlice<UInt8>, goneSince time: WallTime) throws(SystemError) {
        try remember(Address(.deviceToken, token), goneSince: time)
    }
}
