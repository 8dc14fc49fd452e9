/// Lets a few tests at a time through: each runs processes of its own, and the machine has only so many cores; but most of
/// a test is waiting.
package actor Turnstile {
    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// One with so many places.
    package init(places: Int) {
        self.places = places
    }

    /// Does something when there is a place, which nobody else has meanwhile.
    ///
    /// - Throws: what `body` throws.
    package nonisolated func passing<Value: Sendable>(_ body: () async throws -> Value) async throws
        -> Value
    {
        await enter()
        do {
            let value = try await body()
            await leave()
            return value
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}
