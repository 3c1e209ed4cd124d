// swift-tools-version: 6.2
//
// Fuzzers, apart from the package so that nothing of them gets into a build of it. `Scripts/fuzz` builds and runs them.
// A new one: a folder Sources/FuzzName with a main.swift like FuzzBinary's, a line in `targets`, seeds in corpus/name.

import PackageDescription

func fuzzer(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: ["CFuzzer", .product(name: "_RingdParsers", package: "ringd")])
}

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "ringd", path: "..")],
    targets: [
        .systemLibrary(name: "CFuzzer"),
        fuzzer("FuzzApnsFile"),
        fuzzer("FuzzBinary"),
        fuzzer("FuzzCertificate"),
        fuzzer("FuzzConfig"),
        fuzzer("FuzzConnect"),
        fuzzer("FuzzDialect"),
        fuzzer("FuzzHandle"),
        fuzzer("FuzzJSONText"),
        fuzzer("FuzzPayload"),
        fuzzer("FuzzProviderToken"),
        fuzzer("FuzzWebhook"),
    ]
)
