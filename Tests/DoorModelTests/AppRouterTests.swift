import APNSModel
import Document
import DoorModel
import PushModel
import SpoolModel
import Testing

struct AppRouterTests {
    private static func app(
        _ name: String, _ topic: String?, isSandbox: Bool = false, identity: PushTopic.Identity = .providerToken
    ) -> AppList.App {
        var app = AppList.App(name: name, carrier: .http2)
        (app.topic, app.isSandbox, app.identity) = (topic, isSandbox, identity)
        return app
    }

    /// A router over one list of apps.
    private func router(_ apps: [AppList.App]) -> AppRouter {
        var list = AppList(node: "a", limits: DocumentLimits())
        list.apps = apps
        return AppRouter([list])
    }

    private func producer(_ apps: Set<String>? = nil) -> Producer {
        var producer = Producer(name: "fleet")
        producer.apps = apps
        return producer
    }

    private static let weather = app("weather", "com.example.weather")
    private static let news = app(
        "news", nil, identity: .certificate(topics: ["com.example.news", "com.example.news.voip"]))

    @Test(arguments: [
        ("com.example.weather", PushType.alert, 1), ("com.example.weather.voip", .voip, 1),
        ("com.example.weather.push-type.liveactivity", .liveactivity, 1), ("com.example.weather.voip", nil, 1),
        ("com.example.weather.voip", .alert, nil), ("com.example", .alert, nil), ("", .alert, nil),
        ("com.example.news", .alert, 0), ("com.example.news.voip", .voip, 0),
        ("com.example.news.complication", nil, nil),
    ])
    func `a topic leads to the app that has it`(topic: String, type: PushType?, app: Int?) {
        let router = router([Self.weather, Self.news])
        let match = router.match(topic: topic, type: type, for: producer(), host: "relay")
        #expect(match == app.map { .app($0) } ?? .none)
    }

    @Test func `other producers' apps do not exist`() {
        let router = router([Self.weather, Self.news])
        let match = router.match(topic: "com.example.weather", type: nil, for: producer(["news"]), host: "")
        #expect(match == .none)
    }

    @Test(arguments: [
        ("api.sandbox.push.apple.com:443", 0), ("api.development.push.apple.com", 0), ("api.push.apple.com", 1),
        ("", 1),
    ])
    func `the host decides between two environments`(host: String, app: Int) {
        let router = router([
            Self.app("live", "com.example.weather"), Self.app("beta", "com.example.weather", isSandbox: true),
        ])
        #expect(router.match(topic: "com.example.weather", type: .alert, for: producer(), host: host) == .app(app))
    }

    @Test func `two apps that nothing tells apart are both named`() {
        let router = router([Self.app("b", "com.example.x"), Self.app("a", "com.example.x")])
        #expect(router.match(topic: "com.example.x", type: nil, for: producer(), host: "") == .several(["a", "b"]))
        #expect(router.match(topic: "com.example.x", type: nil, for: producer(["b"]), host: "") == .app(1))
    }

    @Test func `apps that no request can reach are known in advance`() {
        let router = router([
            Self.app("b", "com.example.x"), Self.app("a", "com.example.x"), Self.weather,
            Self.app("beta", "com.example.weather", isSandbox: true), Self.app("any", nil), Self.app("all", nil),
        ])
        #expect(router.indistinguishable(for: producer()) == [["a", "b"]])
        #expect(router.indistinguishable(for: producer(["a", "weather"])) == [])
    }

    @Test func `a key without a topic takes what no other app has`() {
        let router = router([Self.app("any", nil), Self.weather])
        #expect(router.match(topic: "com.example.weather", type: .alert, for: producer(), host: "") == .app(1))
        #expect(router.match(topic: "com.example.else", type: .alert, for: producer(), host: "") == .app(0))
    }

    @Test func `apps of the binary protocol are not reached`() {
        var old = AppList.App(name: "old", carrier: .frame)
        old.topic = "com.example.old"
        #expect(router([old]).match(topic: "com.example.old", type: nil, for: producer(), host: "") == .none)
    }

    @Test func `no topic leads to an FCM app`() {
        var app = AppList.App(name: "android", carrier: .fcm)
        #expect(router([app]).match(topic: "com.example.weather", type: nil, for: producer(), host: "") == .none)
        app.topic = "com.example.weather"
        #expect(router([app]).match(topic: "com.example.weather", type: nil, for: producer(), host: "") == .none)
    }

    @Test(
        arguments: [
            (nil, ["a"], .app(0)), (nil, ["a", "b"], .several(["a", "b"])), (nil, ["weather"], .none),
            ("b", ["a", "b"], .app(1)), ("b", ["a"], .none), ("weather", ["weather", "a"], .none), ("", ["a"], .none),
        ] as [(String?, Set<String>, AppRouter.Match)])
    func `an FCM app is the one named, or else the producer's only one`(
        name: String?, own: Set<String>, match: AppRouter.Match
    ) {
        let router = router([
            AppList.App(name: "a", carrier: .fcm), AppList.App(name: "b", carrier: .fcm), Self.weather,
        ])
        #expect(router.match(fcmApp: name, for: producer(own)) == match)
    }

    @Test func `of two apps with one name the newer list's counts`() {
        var (new, old) = (AppList(node: "a", limits: DocumentLimits()), AppList(node: "b", limits: DocumentLimits()))
        (new.apps, old.apps) = ([Self.app("x", "com.example.new")], [Self.app("x", "com.example.old"), Self.weather])
        let router = AppRouter([new, old])
        #expect(router.apps.map(\.topic) == ["com.example.weather", "com.example.new"])
    }

    @Test(
        arguments: [
            ("com.example.weather", nil, true), ("com.example.weather.voip", PushType.voip, true),
            ("com.example.weather", .voip, false), ("com.example.weather.voip", nil, false),
        ] as [(String, PushType?, Bool)])
    func `a topic that the app adds itself need not be in the job`(topic: String, type: PushType?, isAdded: Bool) {
        #expect(Self.weather.adds(topic, for: type) == isAdded)
        #expect(!Self.news.adds(topic, for: type))
    }
}
