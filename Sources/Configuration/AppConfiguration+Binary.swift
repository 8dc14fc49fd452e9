import APNSBinary
import APNSGateway
import Document

extension AppConfiguration {
    private enum Format: String, CaseIterable {
        case frame
        case enhanced
        case simple
    }

    private enum Proof: String, CaseIterable {
        case silence
        case probe
    }

    /// Reads the section `binary`.
    mutating func readBinary(_ fields: inout Fields) {
        switch fields.choice("format", of: Format.self) {
        case .frame, nil: format = .frame
        case .enhanced: format = .enhanced
        case .simple: format = .simple
        }
        window = fields.integer("window", in: 1...10_000_000) ?? window
        let proof = fields.choice("confirm", of: Proof.self) ?? .silence
        let quiet = fields.duration("confirm_after", in: .milliseconds(100)...(.seconds(3600))) ?? .seconds(5)
        confirmation = proof == .probe ? .probe : .silence(quiet)
        if quiet < .seconds(3), proof == .silence {
            fields.warn(
                "confirm_after", "is shorter than some gateways take to report an error",
                hint: "use 3s or more in production")
        }
        if proof == .probe, format == .simple {
            fields.refuse("confirm", "probe needs identifiers, which format: simple lacks", hint: "use format: frame")
        }
    }
}
