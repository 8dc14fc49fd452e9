extension House {
    /// What is over its limit today, and why. Take an entry off when it is mended; lower its count when it shrinks.
    static let exceptions: [Exception] = [
        .init("HTTP2.ConnectionMachine", .lines, 758, connection),
        .init("HTTP2.ConnectionMachine", .functions, 52, connection),
        .init("GatewaySimulator", .foldersInCircles, 3, "a script drives both protocols, and both ask it"),
    ]

    private static let connection = "RFC 9113's connection: streams, windows and SETTINGS depend on each other"
}
