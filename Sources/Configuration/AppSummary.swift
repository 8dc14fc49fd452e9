extension ConfigurationSet.App {
    /// The app's gateway, protocol and identity in one line.
    package var summary: String {
        var line = "\(configuration.environment) at \(configuration.endpoint) over \(configuration.wire)"
        if let proxy = configuration.proxy { line += " through the proxy \(proxy)" }
        line += ", topic \(identity.topic ?? identity.absentTopic)"
        line += ", \(identity.credentialsDescription)"
        if let limit = configuration.confirmationLimit {
            line += ", at most \(limit) notifications/s per connection (window / confirm_after)"
        }
        return line
    }
}
