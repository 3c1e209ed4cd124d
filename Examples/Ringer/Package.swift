// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Ringer",
    dependencies: [.package(name: "ringd", path: "../..")],
    targets: [
        .executableTarget(
            name: "Ringer",
            dependencies: [
                .product(name: "CallKit", package: "ringd"),
                .product(name: "PushKit", package: "ringd"),
                .product(name: "UserNotifications", package: "ringd"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)])
    ]
)
