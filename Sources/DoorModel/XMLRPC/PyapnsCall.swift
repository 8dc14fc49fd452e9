package import Document

/// A call of one of pyapns' methods, with its parameters read.
package enum PyapnsCall: Hashable, Sendable {
    /// `provision`: names an app's certificate and environment.
    case provision(Provision)
    /// `notify`: sends notifications.
    case notify(Notify)
    /// `feedback`: asks for the tokens of an app that are gone. The app may not exist.
    case feedback(app: String)

    /// Reads a call.
    ///
    /// - Parameters:
    ///   - method: The name of the method.
    ///   - parameters: The root of the JSON in `MethodCall.parameters`.
    /// - Throws: The fault to answer: -32601 for an unknown method, -32602 for unusable parameters, 401 for an unknown
    ///   environment.
    package init(_ method: String, parameters: Node) throws(MethodFault) {
        let parameters = CallParameters(parameters)
        switch method {
        case "provision": self = .provision(try Provision(parameters))
        case "notify": self = .notify(try Notify(parameters))
        case "feedback":
            try parameters.requireCount(1...1, of: "feedback(app_id)")
            self = .feedback(app: try parameters.text(0, "app_id"))
        default: throw .unknownMethod(method)
        }
    }
}
