import APNSHTTP2

/// What a request to the gateway is for. The path tells.
package enum RequestPurpose: Hashable {
    /// A notification to a device.
    case notification
    /// A broadcast by an app.
    case broadcast(by: String)
    /// Management of an app's channels.
    case management(ManagementRequest)

    /// The app in the path, if there is one.
    package var app: String? {
        switch self {
        case .notification: nil
        case .broadcast(let app): app
        case .management(let request): request.app
        }
    }
}

/// A request to the channel management, as method and path tell it.
package struct ManagementRequest: Hashable {
    /// What to do.
    package enum Action: Hashable {
        /// Create a channel.
        case create
        /// Read the settings of a channel.
        case read
        /// Delete a channel.
        case delete
        /// List the channels.
        case list
    }

    /// The app's bundle identifier.
    package let app: String
    /// What is to be done.
    package let action: Action

    /// Whether it must name a channel.
    var isAboutOne: Bool { action == .read || action == .delete }
}

/// A path of the channel management: `/1/apps/<app>/channels` or `/1/apps/<app>/all-channels`.
struct ManagedPlace {
    private let app: String
    private let isList: Bool

    /// Reads a path that begins like those of the channel management.
    ///
    /// - Returns: `nil` if it ends otherwise, or has no app.
    init?(path: String) {
        let rest = path.dropFirst(ChannelRequest.path.count)
        isList = rest.hasSuffix(ChannelRequest.listPath)
        let end = isList ? ChannelRequest.listPath : ChannelRequest.onePath
        guard rest.hasSuffix(end) else { return nil }
        app = String(rest.dropLast(end.count))
        guard !app.isEmpty, !app.contains("/") else { return nil }
    }

    /// The request that a method makes there; `nil` if the path does not allow the method.
    func request(by method: String) -> ManagementRequest? {
        switch (method, isList) {
        case ("POST", false): ManagementRequest(app: app, action: .create)
        case ("GET", false): ManagementRequest(app: app, action: .read)
        case ("DELETE", false): ManagementRequest(app: app, action: .delete)
        case ("GET", true): ManagementRequest(app: app, action: .list)
        default: nil
        }
    }
}
