package import PushModel

/// Consecutive notifications at the front of a batch whose requests differ only in the address, an id, and what depends on
/// these: they have the same payload, and addresses of the same length.
package struct RequestRun: Sendable {
    /// The batch.
    package let batch: Batch
    /// The addresses of the run.
    package let addresses: Batch.UniformAddresses
    /// The body of each request, with room for the address if the body contains it.
    package let body: [UInt8]
    /// The offset of the address in the body; `nil` if the body does not contain it.
    package let addressOffset: Int?
    /// The number of requests.
    package let count: Int

    /// Finds the longest run at the front of a batch, which is not empty.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - makeBody: Returns the body for a payload and the length of the address, and where the address goes.
    package init(
        of batch: Batch, _ makeBody: (ArraySlice<UInt8>, Int) -> (body: [UInt8], addressOffset: Int?)
    ) {
        self.batch = batch
        addresses = batch.uniformAddresses(atMost: batch.count)
        (body, addressOffset) = makeBody(batch.payload(at: batch.indices.lowerBound), addresses.byteCount)
        count = batch.sharedPayload == nil ? 1 : addresses.count
    }
}
