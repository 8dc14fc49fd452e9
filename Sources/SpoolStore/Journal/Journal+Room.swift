package import SpoolModel
import Synchronization

/// Room in the journal that somebody of an app wants.
package struct RoomWish: Hashable, Sendable {
    /// The app.
    package let app: String
    /// What it is wanted for.
    package let use: JournalUse
    /// Tells those of one app and use apart; each has one wish at a time.
    package let number: Int

    /// Creates a wish.
    package init(_ app: String, for use: JournalUse, number: Int = 0) {
        (self.app, self.use, self.number) = (app, use, number)
    }
}

/// Who wants it, and how much.
struct RoomWaiter: Sendable {
    let byteCount: Int
    let wake: @Sendable () -> Void
}

extension Journal {
    /// Gives each of these apps a share of the room that no other app can take.
    package func share(among apps: Set<String>) {
        state.withLock { $0.book.share(among: apps) }
        wakeForRoom()
    }

    /// How many bytes each app has for itself, and whether that is enough for a small job of any length.
    package var share: (byteCount: Int, isEnough: Bool) {
        state.withLock { ($0.book.shares.ownByteCount, $0.book.shares.isEnough) }
    }

    /// How many bytes more an app's live jobs may take to claim another. Costs a look at each app that has live jobs.
    package func claimRoom(of app: String) -> Int {
        state.withLock { max(0, $0.book.claimRoom(of: app)) }
    }

    /// Whether an app may claim a job with a header of so many bytes.
    package func mayClaim(_ byteCount: Int, of app: String) -> Bool {
        state.withLock { $0.book.hasRoom(byteCount, of: app, for: .claims) }
    }

    /// How many bytes of what others may use an app's live jobs take while another app waits for room to claim; 0 if none does.
    package func excess(of app: String) -> Int {
        state.withLock { state in
            let isWanted = state.roomWaiters.keys.contains { $0.app != app && $0.use == .claims }
            return isWanted ? max(0, -state.book.ownRoom(of: app)) : 0
        }
    }

    /// How many bytes are left of what is the app's alone.
    package func ownRoom(of app: String) -> Int { state.withLock { $0.book.ownRoom(of: app) } }

    /// Whether there is room for so many bytes; if not, `wake` is called once there is.
    ///
    /// - Parameters:
    ///   - wish: Who wants it for what. Another wish of the same kind takes the place of this one.
    ///   - byteCount: How many bytes.
    ///   - wake: Called on any thread, and not if there is room now. It must not block.
    /// - Returns: Whether there is room.
    package func hasRoom(
        for wish: RoomWish, byteCount: Int, orWake wake: @escaping @Sendable () -> Void
    ) -> Bool {
        state.withLock { state in
            let hasRoom = state.book.hasRoom(byteCount, of: wish.app, for: wish.use)
            if hasRoom, state.roomWaiters.isEmpty { return true }
            state.roomWaiters[wish] = hasRoom ? nil : RoomWaiter(byteCount: byteCount, wake: wake)
            return hasRoom
        }
    }

    /// Wakes those for whom there is room now.
    func wakeForRoom() {
        let woken = state.withLock { state -> [RoomWaiter] in
            let ready = state.roomWaiters.filter {
                state.book.hasRoom($0.value.byteCount, of: $0.key.app, for: $0.key.use)
            }
            for wish in ready.keys { state.roomWaiters[wish] = nil }
            return Array(ready.values)
        }
        for waiter in woken { waiter.wake() }
    }
}
