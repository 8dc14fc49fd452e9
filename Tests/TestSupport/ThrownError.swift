/// The error that `body` throws, of the type asked for; `nil` when it throws none, or another.
///
/// Runs on the caller's actor, which the closure of `#expect(throws:)` does not.
package func thrownError<Failure: Error>(_ type: Failure.Type, by body: () async throws -> Void) async -> Failure? {
    do {
        try await body()
        return nil
    } catch {
        return error as? Failure
    }
}
