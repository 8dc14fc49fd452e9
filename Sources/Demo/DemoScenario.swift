/// What the demo shows.
package enum DemoScenario: String, CaseIterable, Sendable {
    /// Jobs of every format and with every kind of error, in three apps.
    case samples
    /// A Live Activity from its start to its end.
    case liveActivity = "live-activity"
    /// Jobs for devices of both platforms, of which FCM refuses one and lets many wait.
    case android

    /// The jobs.
    package var jobs: [DemoJob] {
        switch self {
        case .samples: DemoJobs.all
        case .liveActivity: DemoJobs.liveActivity
        case .android: DemoJobs.android
        }
    }

    /// The apps.
    var apps: [DemoApp] { DemoApp.allCases.filter { app in jobs.contains { $0.app == app } } }

    /// Whether each job is dropped only once the one before has ended.
    var isInOrder: Bool { self != .samples }

    /// How many tokens the feedback service reports.
    var goneCount: Int { self == .samples ? DemoJobs.gone.count : 0 }

    /// The faults of the gateway, as a script.
    var script: String {
        switch self {
        case .samples:
            """
            after=400 shutdown times=1
            after=500 goaway undone=20 times=1
            token=\(DemoJobs.hurried.hex) answer reason=TooManyRequests times=1
            """
        case .liveActivity, .android: ""
        }
    }

    /// Parts of the feedback lines to show.
    var feedbackSamples: [String] {
        switch self {
        case .samples: ["\"job\":\"half-bad.yaml\",\"id\"", "\"status\":410", "\"status\":8", "\"kind\":\"token\""]
        case .liveActivity: ["\"outcome\":\"accepted\"", "\"job\":\"4-end.yaml\",\"id\""]
        case .android: ["\"reason\":\"UNREGISTERED\"", "\"job\":\"crowd.jsonl\",\"id\""]
        }
    }

    /// A result file to look at, below `spool/`.
    var resultFile: String {
        switch self {
        case .samples: "weather/failed/*/typo.yaml.result.json"
        case .liveActivity: "weather/failed/*/5-typo.yaml.result.json"
        case .android: "android/done/*/messages.jsonl.result.json"
        }
    }

    /// The least number of access tokens that FCM's client must have asked for.
    package var accessTokenCount: Int { self == .android ? 2 : 0 }
}
