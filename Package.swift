// swift-tools-version: 6.3
import PackageDescription

/// The settings of every Swift target: no experimental feature, no warning left standing. In debug builds file operations
/// can be made to fail (LinuxIO/Failpoints).
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .define("FAILPOINTS", .when(configuration: .debug)),
]

/// One layer of the program: a library target with the strict settings.
func layer(_ name: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of one layer, which may also use what the layers below it offer.
func tests(_ name: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.init(stringLiteral: name)] + dependencies, swiftSettings: strict)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "pushspool",
    products: [
        .executable(name: "pushspool", targets: ["pushspool"]),
        .executable(name: "pushspool-door", targets: ["pushspool-door"]),
        .library(name: "GatewaySimulator", targets: ["GatewaySimulator"]),
        .library(name: "SpoolClient", targets: ["SpoolClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // Cores: bytes or events in, bytes or actions out; nothing here waits, locks or reads a clock.
        layer("Document"),
        layer("APNSModel", uses: ["Document"]),
        layer("FCMModel", uses: ["Document"]),
        layer("PushModel", uses: ["APNSModel", "Document"]),
        layer("APNSBinary", uses: ["PushModel", "APNSModel"]),
        layer("HTTP2"),
        layer("PushHTTP2", uses: ["HTTP2", "PushModel", "APNSModel", "Document"]),
        layer("APNSHTTP2", uses: ["PushHTTP2", "HTTP2", "PushModel", "APNSModel", "Document"]),
        layer("FCMHTTP2", uses: ["FCMModel", "PushHTTP2", "HTTP2", "PushModel", "Document"]),
        layer("APNSServing", uses: ["APNSHTTP2", "HTTP2", "PushModel", "APNSModel", "Document"]),
        layer("FCMServing", uses: ["HTTP2", "PushModel", "FCMModel", "Document"]),
        layer("JobFormat", uses: ["PushModel", "FCMModel", "APNSModel", "Document"]),
        layer("JournalModel", uses: ["JobFormat", "PushModel", "Document"]),
        layer("SpoolModel", uses: ["JournalModel", "JobFormat", "PushModel", "FCMModel", "APNSModel", "Document"]),
        layer(
            "DoorModel",
            uses: ["APNSServing", "APNSHTTP2", "SpoolModel", "JobFormat", "PushModel", "APNSModel", "Document"]),

        // Islands: one C library each, and the only places where `unsafe` may be written.
        .target(
            name: "CSimdJSON",
            linkerSettings: [.linkedLibrary("simdjson")]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        // Without pkg-config, which would give flags of Kerberos that SwiftPM warns about.
        .systemLibrary(name: "CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
        .systemLibrary(name: "CLinux"),
        layer("JSON", uses: ["CSimdJSON", "Document"]),
        layer("YAML", uses: ["CYAML", "Document"]),
        layer("XML", uses: ["CExpat", "Document"]),
        layer("NGHTTP2", uses: ["CNGHTTP2", "HTTP2"]),
        layer("OpenSSL", uses: ["COpenSSL"]),
        layer("MicroHTTPD", uses: ["CMicroHTTPD"]),
        layer("LinuxIO", uses: ["CLinux", "Document"]),
        layer("ZeroMQ", uses: ["CZeroMQ", "LinuxIO"]),

        // Shells: own descriptors; wait, then do what a core said.
        layer("ServiceProcess", uses: ["LinuxIO", "PushModel", "Document", logging]),
        layer("SecureTransport", uses: ["LinuxIO", "OpenSSL", "Document"]),
        layer("SpoolStore", uses: ["LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "PushModel", "Document"]),
        layer("SpoolClient", uses: ["LinuxIO", "SpoolModel", "JobFormat"]),
        layer(
            "Gateways",
            uses: [
                "ServiceProcess", "SecureTransport", "OpenSSL", "JSON", "NGHTTP2", "LinuxIO", "APNSBinary", "APNSHTTP2",
                "FCMHTTP2", "PushHTTP2", "HTTP2", "PushModel", "APNSModel", logging,
            ]),
        layer(
            "GatewaySimulator",
            uses: [
                "SecureTransport", "OpenSSL", "JSON", "NGHTTP2", "LinuxIO", "APNSBinary", "APNSServing", "APNSHTTP2",
                "FCMServing", "HTTP2", "PushModel", "APNSModel", "Document", logging,
            ]),

        // The daemon and the program.
        layer(
            "Configuration",
            uses: [
                "ServiceProcess", "DoorModel", "SpoolStore", "Gateways", "SecureTransport", "JSON", "YAML", "LinuxIO",
                "OpenSSL", "SpoolModel", "APNSBinary", "APNSHTTP2", "FCMHTTP2", "PushHTTP2", "PushModel", "APNSModel",
                "Document",
            ]),
        layer(
            "Doctor",
            uses: [
                "ServiceProcess", "JobOperations", "Configuration", "SpoolStore", "Gateways", "SecureTransport", "JSON",
                "LinuxIO", "OpenSSL", "SpoolModel", "JournalModel", "JobFormat", "APNSHTTP2", "PushHTTP2", "PushModel",
                "APNSModel", "Document", logging,
            ]),
        layer(
            "ChannelManagement",
            uses: [
                "Configuration", "Gateways", "JSON", "LinuxIO", "SpoolModel", "JobFormat", "APNSHTTP2", "PushHTTP2",
                "PushModel", "APNSModel", "Document",
            ]),
        layer(
            "JobOperations",
            uses: [
                "ServiceProcess", "Configuration", "SpoolStore", "JSON", "YAML", "LinuxIO", "OpenSSL", "SpoolModel",
                "JournalModel", "JobFormat", "APNSBinary", "PushModel", "Document", logging,
            ]),
        layer(
            "SharedResources",
            uses: [
                "ServiceProcess", "Configuration", "SpoolStore", "Gateways", "JSON", "LinuxIO", "SpoolModel",
                "JobFormat",
                "PushModel", logging,
            ]),
        layer(
            "AppEngine",
            uses: [
                "ServiceProcess", "SharedResources", "JobOperations", "Configuration", "SpoolStore", "Gateways",
                "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "APNSBinary", "PushModel", "APNSModel",
                "Document", logging,
            ]),
        layer(
            "PushDaemon",
            uses: [
                "ServiceProcess", "AppEngine", "SharedResources", "JobOperations", "Configuration", "SpoolStore",
                "Gateways", "JSON", "LinuxIO", "OpenSSL", "SpoolModel", "JournalModel", "PushModel", "APNSModel",
                "Document", logging,
            ]),
        layer(
            "SpoolInspection",
            uses: [
                "ServiceProcess", "JobOperations", "Doctor", "Configuration", "SpoolClient", "SpoolStore", "JSON",
                "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "PushModel", "Document",
            ]),
        layer(
            "Report",
            uses: [
                "SpoolInspection", "SpoolStore", "JSON", "LinuxIO", "SpoolModel", "JournalModel", "JobFormat",
                "PushModel", "APNSModel", "Document",
            ]),
        layer(
            "Demo",
            uses: [
                "PushDaemon", "ServiceProcess", "Configuration", "GatewaySimulator", "SpoolClient", "JSON", "LinuxIO",
                "OpenSSL", "APNSHTTP2", "PushModel", "APNSModel", "Document", logging,
            ]),
        layer("CommandProgram", uses: ["ServiceProcess", "LinuxIO", "Document", argumentParser]),
        .executableTarget(
            name: "pushspool",
            dependencies: [
                "CommandProgram", "Demo", "Report", "SpoolInspection", "PushDaemon", "ServiceProcess",
                "JobOperations", "ChannelManagement", "Doctor", "Configuration", "GatewaySimulator", "SpoolClient",
                "SpoolStore", "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "PushModel", "FCMModel",
                "APNSModel", "Document",
                argumentParser, logging,
            ],
            swiftSettings: strict),
        layer(
            "Doors",
            uses: [
                "DoorModel", "ServiceProcess", "SpoolInspection", "JobOperations", "Configuration", "APNSServing",
                "MicroHTTPD", "XML", "ZeroMQ", "Doctor", "SecureTransport", "SpoolClient", "SpoolStore", "JSON",
                "NGHTTP2", "LinuxIO", "OpenSSL", "SpoolModel", "JobFormat", "HTTP2", "APNSHTTP2", "PushModel",
                "APNSModel", "Document", logging,
            ]),
        .executableTarget(
            name: "pushspool-door",
            dependencies: [
                "CommandProgram", "Doors", "Configuration", "DoorModel", "Doctor", "ServiceProcess", "LinuxIO",
                "Document",
                argumentParser, logging,
            ],
            swiftSettings: strict),

        // What `make bench` measures the binary transport with.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "ServiceProcess", "Gateways", "APNSHTTP2", "SpoolStore", "SpoolModel", "JournalModel",
                "JobFormat",
                "PushModel", "APNSModel", "FCMModel", "OpenSSL", "LinuxIO",
                logging,
            ],
            path: "Tests/Benchmarks/Driver", swiftSettings: strict),

        // Tests.
        .target(
            name: "TestSupport", dependencies: ["Document", "LinuxIO", "OpenSSL", logging], path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        tests("Document", uses: ["JSON", "YAML", "TestSupport"]),
        tests("APNSModel", uses: ["TestSupport"]),
        tests("FCMModel", uses: ["Document", "JSON"]),
        tests("PushModel", uses: ["APNSModel", "TestSupport"]),
        tests("APNSBinary", uses: ["PushModel", "APNSModel", "TestSupport"]),
        tests("HTTP2", uses: ["TestSupport"]),
        tests(
            "APNSHTTP2",
            uses: ["PushHTTP2", "HTTP2", "NGHTTP2", "PushModel", "APNSModel", "Document", "JSON", "TestSupport"]),
        tests(
            "FCMHTTP2",
            uses: ["PushHTTP2", "HTTP2", "NGHTTP2", "PushModel", "Document", "JSON", "OpenSSL", "TestSupport"]),
        tests("FCMServing", uses: ["JobFormat", "HTTP2", "PushModel", "FCMModel", "Document", "JSON", "TestSupport"]),
        tests("NGHTTP2", uses: ["HTTP2"]),
        tests(
            "SpoolModel",
            uses: ["JSON", "YAML", "JournalModel", "JobFormat", "PushModel", "APNSModel", "Document", "TestSupport"]),
        tests(
            "DoorModel",
            uses: [
                "APNSServing", "APNSHTTP2", "HTTP2", "SpoolModel", "JobFormat", "JSON", "XML", "PushModel", "APNSModel",
                "Document", "TestSupport",
            ]),
        tests("JSON", uses: ["Document", "TestSupport"]),
        tests("YAML", uses: ["Document", "TestSupport"]),
        tests("XML", uses: ["Document"]),
        tests("OpenSSL"),
        tests("MicroHTTPD", uses: ["LinuxIO", "TestSupport"]),
        tests("LinuxIO", uses: ["TestSupport"]),
        tests("ZeroMQ", uses: ["LinuxIO", "TestSupport"]),
        tests("SecureTransport", uses: ["LinuxIO", "OpenSSL", "TestSupport"]),
        tests(
            "SpoolStore",
            uses: [
                "LinuxIO", "JSON", "SpoolModel", "JournalModel", "JobFormat", "PushModel", "Document", "TestSupport",
            ]),
        tests("SpoolClient", uses: ["LinuxIO", "SpoolModel", "JobFormat", "TestSupport"]),
        tests(
            "SpoolInspection",
            uses: [
                "JSON", "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "PushModel", "APNSModel", "Document",
                "TestSupport",
            ]),
        tests("Doors", uses: ["Configuration", "DoorModel", "LinuxIO", "PushModel", logging, "TestSupport"]),
        tests(
            "Gateways",
            uses: [
                "ServiceProcess", "GatewaySimulator", "OpenSSL", "LinuxIO", "APNSBinary", "APNSHTTP2", "FCMHTTP2",
                "PushModel",
                "APNSModel", "JSON", "TestSupport", logging,
            ]),
        tests(
            "GatewaySimulator",
            uses: [
                "SecureTransport", "OpenSSL", "NGHTTP2", "LinuxIO", "APNSBinary", "APNSHTTP2", "PushHTTP2",
                "FCMServing",
                "HTTP2", "PushModel", "APNSModel", "Document", "TestSupport",
            ]),
        tests(
            "AppEngine",
            uses: [
                "ServiceProcess", "SharedResources", "JobOperations", "Configuration", "SpoolStore", "Gateways",
                "OpenSSL", "LinuxIO", "SpoolModel", "JournalModel", "APNSBinary", "PushModel", "APNSModel", logging,
                "TestSupport",
            ]),
        tests(
            "PushDaemon",
            uses: [
                "ServiceProcess", "AppEngine", "SharedResources", "JobOperations", "Doctor", "Configuration",
                "GatewaySimulator", "SpoolClient", "SpoolStore", "Gateways", "JSON", "LinuxIO", "OpenSSL", "SpoolModel",
                "JournalModel", "JobFormat", "APNSHTTP2", "PushModel", "APNSModel", "Document", logging, "TestSupport",
            ]),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "pushspool", "pushspool-door", "GatewaySimulator", "SpoolStore", "LinuxIO", "SpoolModel",
                "JournalModel", "JobFormat",
                logging, "TestSupport",
            ],
            exclude: ["README.md"], swiftSettings: strict),
        .testTarget(
            name: "ManualTests",
            dependencies: [
                "pushspool", "pushspool-door", "CommandProgram", "Demo", "Report", "SpoolInspection", "PushDaemon",
                "ServiceProcess", "AppEngine", "JobOperations", "DoorModel", "Configuration", "OpenSSL", "YAML",
                "GatewaySimulator", "JSON", "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "APNSBinary",
                "PushModel", "APNSModel", "Document", argumentParser, "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
