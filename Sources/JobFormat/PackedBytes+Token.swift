package import APNSModel
package import PushModel

extension PackedBytes {
    /// Parses a device token and appends its bytes as one string.
    ///
    /// - Returns: The fault of the spelling, in which case nothing was appended.
    package mutating func append(token spelling: Span<UInt8>) -> TokenSpelling.Fault? {
        var fault: TokenSpelling.Fault?
        _ = append { bytes -> Int? in
            switch TokenSpelling.append(spelling, to: &bytes) {
            case .success(let count): return count
            case .failure(let found):
                fault = found
                return nil
            }
        }
        return fault
    }
}
