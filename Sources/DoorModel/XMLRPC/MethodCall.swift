/// A call of a method over XML-RPC.
package struct MethodCall: Hashable, Sendable {
    /// The name of the method.
    package let method: String
    /// The parameters as compact JSON: an array without duplicate keys. Times and binary data do not occur.
    package let parameters: [UInt8]
}
