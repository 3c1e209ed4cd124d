// swift-tools-version: 6.2
//
// A folder in Sources/ is a target and a room of the house: an arrow (a dependency) only ever points down.
// `--explicit-target-dependency-import-check error` and InternalImportsByDefault turn the layers into compile errors.

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

/// For the targets that hold no C pointer at all.
let memorySafe = strict + [.strictMemorySafety()]

func room(_ name: String, _ below: [Target.Dependency] = [], settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: below, swiftSettings: settings)
}

let package = Package(
    name: "ringd",
    products: [
        .executable(name: "ringd", targets: ["ringd"]),
        .executable(name: "ringctl", targets: ["ringctl"]),
        .executable(name: "ringd-decode", targets: ["ringd-decode"]),
        // For apps: Apple's names on Linux, and what is under them.
        .library(name: "RingdClient", targets: ["RingdClient"]),
        .library(name: "AVFAudio", targets: ["AVFAudio"]),
        .library(name: "AVFoundation", targets: ["AVFoundation"]),
        .library(name: "PushKit", targets: ["PushKit"]),
        .library(name: "CallKit", targets: ["CallKit"]),
        .library(name: "UserNotifications", targets: ["UserNotifications"]),
        // Not API: what the fuzzers in Fuzz/ are linked with.
        .library(
            name: "_RingdParsers", targets: ["APNs", "Gateway", "Pushes", "JSON", "Config", "Crypto", "Webhooks"]),
    ],
    targets: [
        // C libraries: a module map and a shim each, imported by exactly one Swift target.
        .systemLibrary(name: "CSystemd"),
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1"),
        .systemLibrary(name: "CPulse"),
        .systemLibrary(name: "CSndFile"),
        .systemLibrary(name: "COpenSSL"),
        .systemLibrary(name: "CSocket"),
        .systemLibrary(name: "CNGHTTP2"),
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CJansson"),
        .systemLibrary(name: "CLibAV"),
        .systemLibrary(name: "CMicroHTTP"),

        // The dialect files, as data of the programs that read them.
        .target(name: "CDialects", exclude: ["dialects"]),

        // Ground floor.
        room("Base"),
        room("EventLoop", ["Base", "CSystemd"]),
        room("DBus", ["Base", "EventLoop", "CDBus"]),
        room("JSON", ["CJansson"]),
        room("Crypto", ["Base", "COpenSSL"]),
        room("HTTP2", ["CNGHTTP2"]),
        room("Sockets", ["Base", "CSocket"]),

        // The core: values in, values out.
        room("Calls", ["Base"], settings: memorySafe),
        room("Pushes", ["Base", "CDialects", "JSON"], settings: memorySafe),
        room("APNs", ["Base", "JSON", "Crypto"]),
        room("Config", ["Base", "APNs"], settings: memorySafe),
        room("Report", ["Base", "JSON"], settings: memorySafe),

        // The edges: none imports another.
        room("Gateway", ["Base", "EventLoop", "Crypto", "HTTP2", "APNs", "Sockets"]),
        room("Webhooks", ["Base", "EventLoop", "CMicroHTTP", "Sockets"]),
        room("Desktop", ["Base", "EventLoop", "DBus"]),
        room("Ringtone", ["Base", "EventLoop", "CPulse", "CSndFile"]),
        room("Store", ["Base", "EventLoop", "CSQLite"]),
        room("BusService", ["Base", "EventLoop", "DBus"]),

        // The wiring.
        room(
            "Daemon",
            [
                "Base", "EventLoop", "DBus", "JSON", "Crypto", "Config", "Calls", "Pushes", "APNs", "Gateway",
                "Webhooks", "Desktop", "Ringtone", "Sockets", "Store", "BusService",
            ]),

        // For apps: a client, and Apple's modules upon it.
        room("RingdClient", ["Base", "EventLoop", "DBus"]),
        room("AVFAudio", ["Base"]),
        room("AVFoundation", ["AVFAudio"]),
        room("UserNotifications", ["Base", "DBus", "RingdClient"]),
        room("PushKit", ["Base", "DBus", "RingdClient"]),
        room("CallKit", ["AVFAudio", "Base", "DBus", "RingdClient"]),

        // The other side: sends pushes to any APNs gateway. For programs that may wait.
        room("Sender", ["Base", "Crypto", "HTTP2"]),

        // The command line: everything of ringctl but its last line, so that tests can hold it.
        room(
            "Control",
            [
                "Base", "EventLoop", "DBus", "JSON", "Crypto", "APNs", "Config", "Pushes", "Sender", "Report",
            ]),

        // The programs.
        .executableTarget(name: "ringd", dependencies: ["Base", "EventLoop", "Daemon"], swiftSettings: strict),
        .executableTarget(name: "ringctl", dependencies: ["Control"], swiftSettings: strict),
        .executableTarget(
            name: "ringd-decode", dependencies: ["CLibAV", "CSndFile"], swiftSettings: strict),

        // The tests.
        .testTarget(name: "CallsTests", dependencies: ["Base", "Calls", "CallsWalk"], swiftSettings: strict),
        // Random walks through the core, for CallsTests and for the program that runs millions of them.
        .target(name: "CallsWalk", dependencies: ["Base", "Calls"], path: "Tests/CallsWalk", swiftSettings: strict),
        .executableTarget(
            name: "ringd-soak", dependencies: ["Base", "Calls", "CallsWalk"], path: "Tests/Soak",
            swiftSettings: strict),
        // How fast payloads are read, for Benchmarks/run.
        .executableTarget(
            name: "ringd-dialect-speed", dependencies: ["CJansson", "JSON", "Pushes"], path: "Tests/DialectSpeed",
            swiftSettings: strict),
        .testTarget(
            name: "APNsTests", dependencies: ["APNs", "Base", "Crypto", "JSON"], swiftSettings: strict),
        .testTarget(
            name: "PushesTests", dependencies: ["Base", "JSON", "Pushes"], exclude: ["payloads"], swiftSettings: strict),
        .testTarget(name: "ConfigTests", dependencies: ["APNs", "Base", "Config"], swiftSettings: strict),
        .testTarget(
            name: "ControlTests",
            dependencies: ["Base", "Control", "Crypto", "DBus", "JSON", "Report", "Sender", "TestSupport", "ringctl"],
            swiftSettings: strict),
        .testTarget(
            name: "DesktopTests", dependencies: ["Base", "EventLoop", "DBus", "Desktop", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "DocsTests", dependencies: ["Base", "BusService", "Config"], swiftSettings: strict),
        .testTarget(
            name: "StoreTests", dependencies: ["Base", "EventLoop", "Store", "TestSupport", "ringd-store-writer"],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayTests", dependencies: ["Base", "EventLoop", "Crypto", "HTTP2", "APNs", "Gateway", "Sockets"],
            swiftSettings: strict),
        .testTarget(name: "SocketsTests", dependencies: ["Base", "Sockets"], swiftSettings: strict),
        .testTarget(
            name: "WebhookTests", dependencies: ["Base", "EventLoop", "Sockets", "Webhooks"], swiftSettings: strict),
        .testTarget(
            name: "RingtoneTests", dependencies: ["Base", "EventLoop", "Ringtone", "TestSupport", "ringd-decode"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "AVFoundation", "CallKit", "PushKit", "RingdClient", "UserNotifications", "JSON", "Samples",
                "TestSupport", "ringctl", "ringd", "ringd-decode", "ringd-test-app",
            ],
            swiftSettings: strict),
        // What several of them use: a headless desktop, and recordings of what it plays.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        // What iOS developers write, for the compiler: of before Swift's concurrency, unlike all the rest.
        .target(
            name: "Samples", dependencies: ["AVFoundation", "CallKit", "PushKit", "UserNotifications"],
            path: "Tests/Samples",
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
        // An app that takes calls over D-Bus, as apps are to do.
        .executableTarget(
            name: "ringd-test-app", dependencies: ["Base", "DBus", "EventLoop"], path: "Tests/TestApp",
            swiftSettings: strict),
        // An app of CallKit's and PushKit's, to be measured.
        .executableTarget(
            name: "ringd-module-probe", dependencies: ["CallKit", "PushKit"], path: "Tests/ModuleProbe",
            swiftSettings: strict),
        // Writes calls until it is killed.
        .executableTarget(
            name: "ringd-store-writer", dependencies: ["Base", "EventLoop", "Store"], path: "Tests/StoreWriter",
            swiftSettings: strict),
    ]
)
