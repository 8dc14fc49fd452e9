package import Document

/// The file of a service account, as the Firebase console issues it under *Generate new private key*: a JSON object with
/// `type`, `project_id`, `private_key`, `private_key_id`, `client_email`, `token_uri`, and others that are not needed.
package struct ServiceAccountFile: Sendable, CustomReflectable {
    /// The account.
    package let account: ServiceAccount
    /// The member `private_key`: PEM text. A secret, which the owner erases.
    package var privateKey: [UInt8]

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - allowsAnyHost: Whether `token_uri` may have another host than Google's, because the app says itself where
    ///     the token endpoint is.
    ///   - parser: A JSON parser.
    /// - Throws: The first fault, without a place. The message names the member, and for a file of another kind says what
    ///   it is. Quotes no key.
    package init(
        _ bytes: [UInt8], allowsAnyHost: Bool = false, parser: inout some DocumentParser
    ) throws(Diagnostic) {
        if let kind = ForeignFile(bytes) { throw kind.fault }
        let root = try Self.object(bytes, parser: &parser)
        if let kind = ForeignFile(root) { throw kind.fault }
        try Self.checkType(root)
        let projectID = try Self.text("project_id", in: root)
        guard ServiceAccount.isProject(projectID) else {
            throw Diagnostic(
                "`project_id` \(Diagnostic.quoted(projectID)) is not a project's id", hint: ForeignFile.wanted)
        }
        let uri = try Self.uri(Self.text("token_uri", in: root), allowsAnyHost: allowsAnyHost)
        account = ServiceAccount(
            projectID: projectID, clientEmail: try Self.text("client_email", in: root),
            privateKeyID: root["private_key_id"]?.string, tokenURI: uri)
        privateKey = Array(try Self.text("private_key", in: root).utf8)
    }

    /// Hides the key from `dump`.
    package var customMirror: Mirror { Mirror(self, children: ["account": account]) }

    private static func object(_ bytes: [UInt8], parser: inout some DocumentParser) throws(Diagnostic) -> Node {
        let root: Node
        do throws(Diagnostic) {
            root = try parser.parse(bytes).root
        } catch {
            let place = error.place.map { "line \($0.line), column \($0.column): " } ?? ""
            throw Diagnostic("the file is not JSON: \(place)\(error.message)", hint: ForeignFile.wanted)
        }
        guard root.kind == .mapping else {
            throw Diagnostic("the file holds \(root.kindName), not an object", hint: ForeignFile.wanted)
        }
        return root
    }

    private static func checkType(_ root: Node) throws(Diagnostic) {
        let type = try text("type", in: root)
        guard type != "service_account" else { return }
        guard let other = OtherCredentials(rawValue: type) else {
            throw Diagnostic(
                "`type` is \(Diagnostic.quoted(type)), not `service_account`", hint: ForeignFile.wanted)
        }
        throw Diagnostic("`type` is `\(type)`: \(other.meaning)", hint: ForeignFile.wanted)
    }

    private static func text(_ name: String, in root: Node) throws(Diagnostic) -> String {
        guard let node = root[name], !node.isNull else {
            throw Diagnostic("`\(name)` is missing", hint: ForeignFile.wanted)
        }
        guard let text = node.string else {
            throw Diagnostic("`\(name)` is \(node.kindName), not a string", hint: ForeignFile.wanted)
        }
        guard !text.isEmpty else { throw Diagnostic("`\(name)` is empty", hint: ForeignFile.wanted) }
        return text
    }

    private static func uri(_ text: String, allowsAnyHost: Bool) throws(Diagnostic) -> TokenURI {
        do throws(TextFault) {
            let uri = try TokenURI(text)
            guard allowsAnyHost || uri.isGoogles else {
                throw TextFault(
                    "\(Diagnostic.quoted(text)) is not at \(TokenURI.googleHost)",
                    hint: "use the file as it was downloaded, or set token_gateway: to the token endpoint of a test")
            }
            return uri
        } catch {
            throw Diagnostic("`token_uri` \(error.message)", hint: error.hint)
        }
    }
}

/// The kinds of Google credentials that are not a service account's key, by their `type`.
private enum OtherCredentials: String {
    case authorizedUser = "authorized_user"
    case impersonated = "impersonated_service_account"
    case external = "external_account"
    case externalUser = "external_account_authorized_user"
    case distributedCloud = "gdch_service_account"

    var meaning: String {
        switch self {
        case .authorizedUser: "a person's login, as gcloud stores it"
        case .impersonated: "a person's right to act as a service account"
        case .external: "workload identity, which can name URLs to ask and commands to run"
        case .externalUser: "a person's login at another identity provider"
        case .distributedCloud: "an account of Google Distributed Cloud"
        }
    }
}

/// Files that are easily mistaken for a service account's.
private enum ForeignFile {
    case androidApp, appleApp, oauthClient, pem

    static let wanted =
        "create a key in the Firebase console (Project settings, Service accounts, Generate new private key), and name"
        + " the file as it was downloaded"

    /// Recognizes a file that is not JSON.
    init?(_ bytes: [UInt8]) {
        let start = bytes.prefix(1024).drop { $0 <= 0x20 }
        if start.starts(with: "<?xml".utf8) || start.starts(with: "<plist".utf8) || start.starts(with: "bplist".utf8) {
            self = .appleApp
        } else if start.starts(with: "-----BEGIN".utf8) {
            self = .pem
        } else {
            return nil
        }
    }

    /// Recognizes a JSON object by its members.
    init?(_ root: Node) {
        guard root["type"] == nil else { return nil }
        if root["project_info"] != nil || root["client"] != nil {
            self = .androidApp
        } else if root["installed"] != nil || root["web"] != nil {
            self = .oauthClient
        } else {
            return nil
        }
    }

    var fault: Diagnostic {
        let name =
            switch self {
            case .androidApp: "google-services.json, which belongs into the Android app"
            case .appleApp: "a property list such as GoogleService-Info.plist, which belongs into the iOS app"
            case .oauthClient: "the secret of an OAuth client, with which people log in"
            case .pem: "PEM text"
            }
        return Diagnostic("the file is \(name), not a service account's JSON file", hint: Self.wanted)
    }
}
