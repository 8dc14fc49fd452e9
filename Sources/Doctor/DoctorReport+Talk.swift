import ServiceProcess

extension DoctorReport {
    /// Prints the report.
    ///
    /// - Parameter asJSON: Whether as one JSON object.
    package func say(asJSON: Bool) {
        guard !asJSON else { return Talk.say(json) }
        for line in lines { Talk.say(line) }
    }
}
