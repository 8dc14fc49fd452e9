package import APNSModel
package import Document
import JobFormat
import PushModel
package import SpoolModel

/// Finds the app that a request is for.
package struct AppRouter: Sendable {
    /// What a request leads to.
    package enum Match: Hashable, Sendable {
        /// This app, by its place in `apps`.
        case app(Int)
        /// None of the producer's apps fits.
        case none
        /// These apps fit, and nothing tells which is meant.
        case several([String])
    }

    /// The apps, sorted by name.
    package let apps: [AppList.App]
    /// The limits for the documents of jobs.
    package let limits: DocumentLimits
    /// Whether several hosts share the spool.
    package let isOfCluster: Bool
    /// The marks of the spool, by which requests of its own daemons are recognized: one, unless nodes began at the same time.
    let marks: Set<UInt32>

    /// Creates a router over lists of apps, the newest first: of two apps with one name the first counts.
    package init(_ lists: [AppList]) {
        var apps: [String: AppList.App] = [:]
        for app in lists.lazy.flatMap(\.apps) where apps[app.name] == nil { apps[app.name] = app }
        self.apps = apps.values.sorted { $0.name < $1.name }
        limits = lists.first?.limits ?? DocumentLimits()
        isOfCluster = lists.contains(where: \.isShared)
        marks = Set(lists.compactMap(\.mark))
    }

    /// Finds the app for a request to Apple's gateway.
    ///
    /// - Parameters:
    ///   - topic: The topic with the suffix of its push type, or an app's bundle identifier.
    ///   - type: The push type, if the request names one.
    ///   - producer: Who asks. Other producers' apps do not exist for it.
    ///   - host: The host that the client meant to reach, which decides between two environments: that of the sandbox has
    ///     `sandbox` or `development` in its name, as Apple's do.
    /// - Returns: The app, if exactly one fits.
    package func match(topic: String, type: PushType?, for producer: Producer, host: String) -> Match {
        let reachable = apps.indices.filter { producer.reaches(apps[$0]) }
        var found = reachable.filter { apps[$0].hasTopic(topic, type) }
        // A key may push to all topics of its team, and then each job names its own.
        if found.isEmpty { found = reachable.filter { apps[$0].topic == nil && apps[$0].identity == .providerToken } }
        if found.count > 1 {
            let isSandbox = host.contains("sandbox") || host.contains("development")
            let fitting = found.filter { apps[$0].isSandbox == isSandbox }
            if !fitting.isEmpty { found = fitting }
        }
        return match(among: found)
    }

    /// Finds the FCM app for a request, which has no topic to find it by.
    ///
    /// - Parameters:
    ///   - name: The app that the request names; `nil`: the producer must have exactly one.
    ///   - producer: Who asks. Other producers' apps do not exist for it.
    /// - Returns: The app, if exactly one fits.
    package func match(fcmApp name: String?, for producer: Producer) -> Match {
        match(
            among: apps.indices.filter {
                let app = apps[$0]
                return app.carrier == .fcm && producer.may(use: app.name) && (name == nil || name == app.name)
            })
    }

    private func match(among found: [Int]) -> Match {
        guard let first = found.first else { return .none }
        return found.count == 1 ? .app(first) : .several(found.map { apps[$0].name })
    }
}

extension AppRouter {
    /// Returns the names of a producer's apps that have one topic and one environment, so that no request can reach them.
    package func indistinguishable(for producer: Producer) -> [[String]] {
        let reachable = apps.filter { producer.reaches($0) }
        let groups = Dictionary(grouping: reachable.filter { $0.topic != nil }) {
            "\($0.topic ?? "") \($0.isSandbox == true)"
        }
        return groups.values.map { $0.map(\.name) }.filter { $0.count > 1 }.sorted { $0[0] < $1[0] }
    }
}

extension Producer {
    /// Whether a request of this producer can lead to the app: requests name what only the HTTP/2 protocol has.
    fileprivate func reaches(_ app: AppList.App) -> Bool { app.carrier == .http2 && may(use: app.name) }
}

extension AppList.App {
    fileprivate func hasTopic(_ wanted: String, _ type: PushType?) -> Bool {
        if let topic {
            if wanted == topic { return true }
            if let type { return wanted == PushTopic.topic(for: type, app: topic) }
            return PushType.allCases.contains { wanted == PushTopic.topic(for: $0, app: topic) }
        }
        guard case .certificate(let topics) = identity else { return false }
        return topics.contains(wanted)
    }

    /// Whether jobs without a topic get this one. Not if its suffix tells the type of a job that has none.
    package func adds(_ wanted: String, for type: PushType?) -> Bool {
        guard let topic, type != nil || PushTopic.type(ofSuffixIn: wanted) == nil else { return false }
        return wanted == PushTopic.topic(for: type ?? .alert, app: topic)
    }
}
