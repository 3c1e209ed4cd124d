// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Meeting",
    dependencies: [.package(name: "ringd", path: "../..")],
    targets: [
        .executableTarget(
            name: "Meeting",
            dependencies: [
                .product(name: "AVFoundation", package: "ringd"),
                .product(name: "CallKit", package: "ringd"),
                .product(name: "PushKit", package: "ringd"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
