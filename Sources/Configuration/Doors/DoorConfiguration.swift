package import APNSHTTP2
package import DoorModel
package import LinuxIO
package import ServiceProcess

/// The content of `doors.yaml`: where the doors listen, who may come in, and how much is taken in.
package struct DoorConfiguration: Sendable {
    /// How a producer proves who it is.
    package enum Proof: Hashable, Sendable {
        /// Provider tokens, signed with the private half of the key in this file.
        case key(String, of: ProviderIdentity)
        /// A client certificate with the public key of the one in this file.
        case certificate(String)
        /// The text in this file, as a bearer token or, with the producer's name, as a password.
        case bearer(String)
    }

    /// The APNs relay.
    package struct Relay: Hashable, Sendable {
        /// The address to listen on.
        package var address: SocketAddress
        /// The file with the relay's certificate, as PEM.
        package var certificate = ""
        /// The file with its key; `nil`: in the same file.
        package var key: String?
        /// How long an `apns-id` that a client sent is remembered.
        package var dedupe = Duration.seconds(3600)
        /// What an answer tells.
        package var answer = Answer.spooled
        /// How long an answer waits for that of the gateway.
        package var wait = Duration.seconds(10)
        /// How long a token that was reported as gone is refused at once.
        package var gone = Duration.seconds(86_400)
    }

    /// What the relay's answer tells.
    package enum Answer: String, CaseIterable, Sendable {
        /// That the notification is safe in the spool.
        case spooled
        /// What the gateway answered, if it did in time.
        case gateway
    }

    /// The door for XML-RPC.
    package struct XMLRPC: Hashable, Sendable {
        /// Where to listen.
        package var place: ListenPlace
        /// What `provision` may do.
        package var provision = ProvisionMode.known
        /// The folder of the apps' files, where `provision` creates them.
        package var apps = "/etc/pushspool/apps"
        /// The producer as which clients count that do not say who they are; `nil`: one that may use all apps.
        package var producer: String?
    }

    /// What `provision` may do.
    package enum ProvisionMode: String, CaseIterable, Sendable {
        /// Accept apps that exist, and change nothing.
        case known
        /// Write the configuration and the certificate of an app.
        case create
    }

    /// The door for ZeroMQ.
    package struct ZeroMQ: Hashable, Sendable {
        /// The endpoint, as libzmq spells it.
        package var endpoint: String
        /// The app of all requests.
        package var app: String
        /// How tokens in feedback are spelled.
        package var tokens = CommandReply.TokenFormat.hexadecimal
    }

    /// The spool's root, relative to the file.
    package var spool = "/var/spool/pushspool"
    /// The folder for state that survives restarts, relative to the file.
    package var state = "/var/lib/pushspool-door"
    /// The most jobs that may wait in an app's `new/`.
    package var waitingLimit = 100_000
    /// The bytes that must stay free on the spool's volume; `nil`: the larger of 64 MiB and 2 %.
    package var freeSpace: Int64?
    /// The most bytes in a request; the relay's have at most 6 KiB.
    package var requestByteLimit = 5 << 20
    /// The most connections to a door.
    package var connectionLimit = 1_000
    /// How long a request waits for others, to share one job and one sync with them.
    package var groupPause = Duration.milliseconds(5)
    /// The most requests in one job.
    package var groupLimit = 256
    /// The producers with their proofs, in the order of the file.
    package var producers: [(producer: Producer, proof: Proof)] = []
    /// The APNs relay; `nil`: there is none.
    package var relay: Relay?
    /// The door for JSON over HTTP/1.1; `nil`: there is none.
    package var http: ListenPlace?
    /// The door for XML-RPC; `nil`: there is none.
    package var xmlrpc: XMLRPC?
    /// The door for ZeroMQ; `nil`: there is none.
    package var zeromq: ZeroMQ?
    /// The address where metrics are served; `nil`: none.
    package var metricsListen: MetricsPlace?
    /// The format of log lines.
    package var logFormat = LogFormat.text
    /// The lowest severity that is logged.
    package var logLevel = LogLevel.info

    /// Creates the configuration of an empty file.
    package init() {}

    /// Whether any door is configured.
    package var hasDoor: Bool { relay != nil || http != nil || xmlrpc != nil || zeromq != nil }
}

extension DoorConfiguration {
    /// Returns the keys whose values differ from those in `other`, as spelled in the file, and whose changes take effect only
    /// after a restart.
    package func differences(from other: DoorConfiguration) -> [String] {
        [
            ("spool", spool == other.spool), ("state", state == other.state),
            ("limits.waiting", waitingLimit == other.waitingLimit), ("limits.free_space", freeSpace == other.freeSpace),
            ("group.every", groupPause == other.groupPause), ("group.requests", groupLimit == other.groupLimit),
            ("apns.listen", relay?.address == other.relay?.address),
            ("apns.dedupe", relay?.dedupe == other.relay?.dedupe),
            ("apns.answer", relay?.answer == other.relay?.answer), ("apns.wait", relay?.wait == other.relay?.wait),
            ("apns.gone", relay?.gone == other.relay?.gone),
            // The relay applies it at once.
            ("limits.connections", connectionLimit == other.connectionLimit || http == nil && xmlrpc == nil),
            ("limits.request", requestByteLimit == other.requestByteLimit), ("http.listen", http == other.http),
            ("xmlrpc", xmlrpc == other.xmlrpc), ("zeromq", zeromq == other.zeromq),
            ("log.format", logFormat == other.logFormat), ("metrics.listen", metricsListen == other.metricsListen),
        ].filter { !$0.1 }.map(\.0)
    }
}
