// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Outgoing",
    dependencies: [.package(name: "ringd", path: "../..")],
    targets: [
        .executableTarget(
            name: "Outgoing",
            dependencies: [
                .product(name: "AVFoundation", package: "ringd"),
                .product(name: "CallKit", package: "ringd"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)])
    ]
)
