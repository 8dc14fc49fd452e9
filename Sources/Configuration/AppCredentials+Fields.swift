import APNSHTTP2
import Document
import LinuxIO

extension AppCredentials {
    /// Reads the section, for a protocol. Its keys are known whatever the protocol is.
    mutating func read(_ fields: inout Fields, for wire: AppConfiguration.Wire.Name) {
        let account = fields.file("service_account")
        let (certificate, container, key) = (fields.source("certificate"), fields.file("pkcs12"), fields.source("key"))
        let (file, variable) = (fields.file("passphrase_file"), fields.string("passphrase_env"))
        passphrase = file.map { .file($0) } ?? variable.map { .variable($0) }
        if file != nil, variable != nil {
            fields.refuse("passphrase_env", "cannot be combined with passphrase_file", hint: "remove one of them")
        }
        let hasToken = fields.value("token") != nil
        let token = fields.mapping("token") { Self.readToken(&$0) } ?? nil
        guard wire != .fcm else {
            Self.checkServiceAccount(&fields)
            identity = account.map { .serviceAccount($0) } ?? identity
            return
        }
        fields.forbid(
            "service_account", "is for protocol: fcm only",
            hint: "write protocol: fcm for an Android app, or credentials of Apple's")
        guard account == nil else { return }
        fields.alternatives(["certificate", "pkcs12"] + (wire == .binary ? [] : ["token"]))
        switch (certificate, container, hasToken) {
        case (let certificate?, nil, false): identity = .certificate(certificate, key: key)
        case (nil, let container?, false):
            identity = .pkcs12(container)
            if key != nil { fields.refuse("key", "is already in the PKCS#12 file", hint: "remove key") }
        case (nil, nil, true):
            identity = token ?? identity
            Self.checkToken(&fields, wire)
        case (nil, nil, false), (_?, _?, _), (_?, nil, true), (nil, _?, true): Self.refuseCount(&fields, wire)
        }
    }

    /// How to write the section that an app of a protocol lacks.
    static func hint(for wire: AppConfiguration.Wire.Name) -> String {
        switch wire {
        case .http2: "write credentials: {token: {key: AuthKey_ABC123DEFG.p8, key_id: ABC123DEFG, team_id: …}}"
        case .binary: "write credentials: {certificate: push.pem}"
        case .fcm:
            "write credentials: {service_account: FILE.json}, with the file that the Firebase console generates (Project"
                + " settings, Service accounts)"
        }
    }

    /// The form of Apple's ids of keys and teams, for schemas.
    static let idPattern = "^[A-Z0-9]{10}$"

    /// Refuses keys of Apple's credentials, and a service account that is missing.
    private static func checkServiceAccount(_ fields: inout Fields) {
        fields.require("service_account", hint: hint(for: .fcm))
        for key in ["token", "certificate", "pkcs12", "key", "passphrase_file", "passphrase_env"] {
            fields.forbid(key, "is not for protocol: fcm", hint: "remove it: FCM knows an app by its service account")
        }
    }

    private static func refuseCount(_ fields: inout Fields, _ wire: AppConfiguration.Wire.Name) {
        if wire == .binary {
            fields.refuse(
                "", "needs exactly one of certificate and pkcs12",
                hint: "write certificate: push.pem or pkcs12: push.p12")
        } else {
            fields.refuse(
                "", "needs exactly one of certificate, pkcs12 and token",
                hint: "write token: {key: …, key_id: …, team_id: …}, certificate: push.pem or pkcs12: push.p12")
        }
    }

    /// Refuses keys that cannot be combined with a provider token.
    private static func checkToken(_ fields: inout Fields, _ wire: AppConfiguration.Wire.Name) {
        if wire == .binary {
            fields.refuse(
                "token", "is for protocol: http2 only", hint: "use a certificate with protocol: binary")
        }
        if fields.value("key") != nil {
            fields.refuse("key", "is only for a certificate", hint: "write token: {key: …}")
        }
        for key in ["passphrase_file", "passphrase_env"] where fields.value(key) != nil {
            fields.refuse(key, "cannot be combined with a token: Apple's keys have no passphrase", hint: "remove it")
        }
    }

    private static func readToken(_ fields: inout Fields) -> Identity? {
        fields.require("key", hint: "write key: AuthKey_ABC123DEFG.p8, the file from Apple's developer site")
        fields.require("key_id", hint: "take it from the key file's name: AuthKey_<key_id>.p8")
        fields.require("team_id", hint: "find it on the membership page of Apple's developer site")
        let key = fields.source("key")
        let (keyID, teamID) = (fields.appleID("key_id"), fields.appleID("team_id"))
        guard let key, let keyID, let teamID, let name = ProviderIdentity(keyID: keyID, teamID: teamID) else {
            return nil
        }
        if case .file(let path) = key, let named = keyIDInName(of: path), named != keyID {
            fields.warn(
                "key_id", "is \(keyID), but the key file is named after \(named)",
                hint: "make sure that they match: otherwise the gateway refuses every token")
        }
        return .token(key: key, of: name)
    }

    /// The key id in a name such as `AuthKey_ABC123DEFG.p8`.
    static func keyIDInName(of path: String) -> String? {
        let name = FilePlace(path).name
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    }
}

extension Fields {
    /// The path of a file. Refuses the text of a key in its place, since paths are printed; it then reads as an empty path.
    package mutating func file(_ key: String) -> String? {
        guard let text = string(key) else { return nil }
        guard text.mayBeKey || text.contains("\n") else { return text }
        refuse(
            key, "is the text of a key or certificate, or a part of one, not a path",
            hint: "put all lines of it into a file, and give the file's path")
        return ""
    }

    /// A path, or PEM text.
    fileprivate mutating func source(_ key: String) -> AppCredentials.Source? {
        guard let text = string(key) else { return nil }
        if text.isPEM { return .text(Array(text.utf8)) }
        return file(key).map { .file($0) }
    }

    /// The 10 characters by which Apple names a key or a team.
    fileprivate mutating func appleID(_ key: String) -> String? {
        let shape = Shape.scalar(pattern: AppCredentials.idPattern)
        guard let text = scalar(key, expected: "a string", shape, read: { (text) throws(TextFault) in text }) else {
            return nil
        }
        let isPlausible = text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
        if isPlausible { return text }
        // A longer text may be a key in the wrong place, so do not print it.
        let shown = text.utf8.count > 20 ? "the value (\(text.utf8.count) bytes)" : Diagnostic.quoted(text)
        refuse(
            key, "\(shown) is not a valid identifier",
            hint: "write 10 characters, capital letters and digits, such as ABC123DEFG")
        return nil
    }
}
