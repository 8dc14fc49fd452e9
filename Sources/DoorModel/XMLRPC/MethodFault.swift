package import Document

/// An error in the answer to an XML-RPC call.
package struct MethodFault: Error, Hashable, Sendable {
    /// The code: one of pyapns, or of "Specification for Fault Code Interoperability", version 20010516.
    package let code: Int
    /// The message, with the remedy.
    package let text: String

    private init(_ code: Int, _ text: String) {
        (self.code, self.text) = (code, text)
    }

    /// Creates the fault of a document that is not well-formed XML, -32700.
    package init(malformed diagnostic: Diagnostic) {
        let remedy = diagnostic.hint.map { "; \($0)" } ?? ""
        let fault = MethodFault(-32700, diagnostic.message + remedy)
        self = diagnostic.place.map(fault.at) ?? fault
    }

    /// Creates the fault of well-formed XML that is not an XML-RPC call, -32600.
    package static func invalidCall(_ text: String) -> MethodFault { MethodFault(-32600, text) }

    /// Creates the fault of a method that does not exist, -32601.
    package static func unknownMethod(_ name: String) -> MethodFault {
        MethodFault(
            -32601, "the method \(Diagnostic.quoted(name)) does not exist; call `provision`, `notify` or `feedback`")
    }

    /// Creates the fault of parameters that the method cannot use, -32602.
    package static func invalidParameters(_ text: String) -> MethodFault { MethodFault(-32602, text) }

    /// Creates pyapns' fault of an environment that is neither `sandbox` nor `production`, 401.
    package static func invalidEnvironment(_ name: String) -> MethodFault {
        let valid = "Valid environments are `sandbox` and `production`"
        return MethodFault(401, "Invalid environment provided \(Diagnostic.quoted(name)). \(valid)")
    }

    /// Creates the fault of an environment that is not the app's, with pyapns' code for environments, 401.
    package static func otherEnvironment(_ name: String, than own: String) -> MethodFault {
        MethodFault(401, "The app's environment is \(own), not \(name); the daemon's operator can change it")
    }

    /// pyapns' fault of an app that does not exist, 404. Its clients then provision the app.
    package static let unknownApp = MethodFault(404, "The app_id specified has not been provisioned.")

    /// Creates pyapns' fault of a call that cannot be carried out now, 500. The client may repeat the call.
    package static func notAccepted(_ text: String) -> MethodFault { MethodFault(500, text) }

    /// Returns the fault with the place in the document before its text.
    package func at(_ place: Place) -> MethodFault {
        MethodFault(code, "line \(place.line), column \(place.column): \(text)")
    }
}
