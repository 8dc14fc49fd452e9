/// A client of the demo of doors: a program that others wrote, with a script that it runs.
struct DoorDemoClient {
    /// The ports of the doors.
    struct Ports {
        let relay: String
        let http: String
        let xmlrpc: String
    }

    /// The file name of the script.
    let name: String
    /// What runs it.
    let interpreter: String
    /// What it shows.
    let about: String
    /// The script.
    let script: String
    /// What it must print, in this order.
    let answers: [String]

    /// The token of a device that has removed the app.
    static let uninstalled = DemoToken(90)
    /// The tokens that the gateway must accept, each once.
    static let good = (80..<86).map(DemoToken.init)

    /// The clients, in their order.
    static func all(ports: Ports, bearer: String, token: String, folder: String) -> [DoorDemoClient] {
        [relay(ports.relay, token, folder), json(ports.http, bearer), xmlrpc(ports.xmlrpc)]
    }

    private static func relay(_ port: String, _ token: String, _ folder: String) -> DoorDemoClient {
        DoorDemoClient(
            name: "1-relay.sh", interpreter: "sh",
            about: "curl over HTTP/2, as to Apple: two devices, one that has removed the app, and no token",
            script: """
                push() {
                    curl --silent --http2 --cacert \(folder)/etc/door-ca.pem --write-out '%{http_code}\\n' \\
                        --header 'authorization: bearer \(token)' --header 'apns-topic: \(DemoApp.weather.topic)' \\
                        --data '{"aps":{"alert":"A storm is coming"}}' "https://localhost:\(port)/3/device/$1"
                }
                push \(good[0].hex)
                push \(good[1].hex)
                push \(uninstalled.hex)
                push abc

                """,
            answers: [
                "200", "200", #"{"reason":"Unregistered","timestamp":1795000000123}410"#,
                #"{"reason":"BadDeviceToken"}400"#,
            ])
    }

    private static func json(_ port: String, _ bearer: String) -> DoorDemoClient {
        DoorDemoClient(
            name: "2-json.sh", interpreter: "sh",
            about: "curl: a job for two devices, then one with a misspelled key",
            script: """
                post() {
                    curl --silent --write-out '%{http_code}\\n' --header 'Authorization: Bearer \(bearer)' \\
                        --header 'Content-Type: application/json' --data "$1" \\
                        http://127.0.0.1:\(port)/v1/apps/weather/jobs
                }
                post '{"tokens":["\(good[2].hex)","\(good[3].hex)"],"alert":"A storm is coming"}'
                post '{"tokens":["\(good[2].hex)"],"alert":"x","priorty":5}'

                """,
            answers: ["202", "did you mean `priority`?", "422"])
    }

    private static func xmlrpc(_ port: String) -> DoorDemoClient {
        DoorDemoClient(
            name: "3-pyapns.py", interpreter: "python3",
            about: "Python's xmlrpc.client, with the calls of pyapns",
            script: """
                import xmlrpc.client
                server = xmlrpc.client.ServerProxy("http://127.0.0.1:\(port)/", allow_none=True)
                print(server.provision("weather", "cert.pem", "sandbox"))
                tokens = ["\(good[4].hex)", "\(good[5].hex)"]
                print(server.notify("weather", tokens, {"aps": {"alert": "A storm is coming"}}))
                try:
                    server.notify("news", tokens, {})
                except xmlrpc.client.Fault as fault:
                    print(fault.faultCode, fault.faultString)

                """,
            answers: ["None", "None", "404 The app_id specified has not been provisioned."])
    }
}
