import Testing

@testable import Doctor

struct DaemonStartTests {
    @Test(arguments: [
        ("/etc/pushspool/pushspool.yaml", true, "systemctl start pushspool"),
        ("/etc/pushspool/pushspool.yaml", false, "pushspool run --config /etc/pushspool/pushspool.yaml"),
        ("etc/my file.yaml", true, "pushspool run --config 'etc/my file.yaml'"),
    ])
    func `where systemd has the unit, it starts the daemon`(path: String, hasUnit: Bool, command: String) {
        #expect(DaemonStart.command(for: path, hasUnit: hasUnit) == command)
    }
}
