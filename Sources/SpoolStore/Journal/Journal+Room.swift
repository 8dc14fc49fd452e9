package import JournalModel
import Synchronization

/// A request of one app for room in the journal.
package struct RoomRequest: Hashable, Sendable {
    /// The app.
    package let app: String
    /// The purpose of the room.
    package let use: JournalUse
    /// Distinguishes requests with the same app and purpose; each number has one pending request.
    package let number: Int

    /// Creates a request.
    package init(_ app: String, for use: JournalUse, number: Int = 0) {
        (self.app, self.use, self.number) = (app, use, number)
    }
}

/// A waiting request: how many bytes it needs, and how to wake its owner.
struct RoomWaiter: Sendable {
    let byteCount: Int
    let wake: @Sendable () -> Void
}

extension Journal {
    /// Gives each of these apps a share of the room that other apps cannot take.
    package func share(among apps: Set<String>) {
        state.withLock { $0.book.share(among: apps) }
        wakeForRoom()
    }

    /// The size of each app's share in bytes, and whether that is enough for a small job of any length.
    package var share: (byteCount: Int, isEnough: Bool) {
        state.withLock { ($0.book.shares.ownByteCount, $0.book.shares.isEnough) }
    }

    /// How many bytes the header of the next job that an app claims may have. Costs a check of each app that has live jobs.
    package func claimRoom(of app: String) -> Int {
        state.withLock { max(0, $0.book.claimRoom(of: app)) }
    }

    /// Whether an app may claim a job with a header of `byteCount` bytes.
    package func mayClaim(_ byteCount: Int, of app: String) -> Bool {
        state.withLock { $0.book.hasRoom(byteCount, of: app, for: .claims) }
    }

    /// How many bytes an app's live jobs take beyond its share while another app waits for room to claim; 0 if none waits.
    package func excess(of app: String) -> Int {
        state.withLock { state in
            let isWanted = state.roomWaiters.keys.contains { $0.app != app && $0.use == .claims }
            return isWanted ? max(0, -state.book.ownRoom(of: app)) : 0
        }
    }

    /// How many bytes of the app's own share are left.
    package func ownRoom(of app: String) -> Int { state.withLock { $0.book.ownRoom(of: app) } }

    /// Whether there is room for `byteCount` bytes. If not, `wake` is called once there is.
    ///
    /// - Parameters:
    ///   - request: The request. It replaces an equal pending request.
    ///   - byteCount: How many bytes.
    ///   - wake: Called on any thread, but not if there is room now. It must not block.
    /// - Returns: Whether there is room.
    package func hasRoom(
        for request: RoomRequest, byteCount: Int, orWake wake: @escaping @Sendable () -> Void
    ) -> Bool {
        state.withLock { state in
            let hasRoom = state.book.hasRoom(byteCount, of: request.app, for: request.use)
            if hasRoom, state.roomWaiters.isEmpty { return true }
            state.roomWaiters[request] = hasRoom ? nil : RoomWaiter(byteCount: byteCount, wake: wake)
            return hasRoom
        }
    }

    /// Wakes the waiting requests for which there is room now.
    func wakeForRoom() {
        let woken = state.withLock { state -> [RoomWaiter] in
            let ready = state.roomWaiters.filter {
                state.book.hasRoom($0.value.byteCount, of: $0.key.app, for: $0.key.use)
            }
            for request in ready.keys { state.roomWaiters[request] = nil }
            return Array(ready.values)
        }
        for waiter in woken { waiter.wake() }
    }
}
