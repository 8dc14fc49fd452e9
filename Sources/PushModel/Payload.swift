/// The JSON object sent to a device, as the bytes for the gateway.
package struct Payload: Hashable, Sendable {
    /// UTF-8, minified, without a byte order mark.
    package let bytes: [UInt8]

    /// Creates a payload. The caller has checked that the bytes are a JSON object within the carrier's limit.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
