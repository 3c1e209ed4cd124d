import Foundation
import TestSupport

/// A push sender as its authors publish it; its program in Tests/Clients is what its documentation shows.
enum PushSender: String, CaseIterable {
    case curl
    case phpCurl = "PHP curl"
    case aioapns
    case pyapnsClient = "pyapns-client"
    case httpx
    case kalyke
    case mopyapns
    case pushjack
    case phpStreams = "PHP streams"

    var isBinary: Bool { self == .pushjack || self == .phpStreams }

    /// What it shows us of the range of senders.
    var dialect: String {
        switch self {
        case .curl: "token by openssl (DER signature)"
        case .phpCurl: "token by PHP's openssl (DER signature)"
        case .aioapns: "token (`iat` integer), no ALPN, no `:authority`"
        case .pyapnsClient: "token (`iat` float)"
        case .httpx: "token by PyJWT (`iat` integer)"
        case .kalyke: "token (`iat` text), a new one for each push"
        case .mopyapns: "token (`iat` float)"
        case .pushjack: "certificate; binary, command 2"
        case .phpStreams: "certificate; binary, commands 0, 1 and 2"
        }
    }

    /// As the installed program says it. Of PHP, which Debian raises with each security update, its first two numbers.
    var version: String { (try? Self.versions.get()[rawValue]) ?? "" }

    private static let versions = Result {
        let packages = [
            ("aioapns", "aioapns"), ("pyapns-client", "pyapns-client"), ("httpx", "httpx"), ("kalyke", "kalyke-apns"),
            ("mopyapns", "mopyapns"), ("pushjack", "pushjack"),
        ]
        let script = "import importlib.metadata, sys; [print(importlib.metadata.version(n)) for n in sys.argv[1:]]"
        let said = try run(ClientPrograms.python(), ["-c", script] + packages.map(\.1))
        var out = Dictionary(
            uniqueKeysWithValues: zip(packages.map(\.0), said.split(separator: "\n").map(String.init)))
        out["curl"] = try run("curl", ["--version"]).split(separator: " ").dropFirst().first.map(String.init)
        let php = try run("php", ["-r", "echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;"])
        out["PHP curl"] = php
        out["PHP streams"] = php
        return out
    }
}

/// The programs of Tests/Clients, and what they run on.
enum ClientPrograms {
    private static let interpreter = Result {
        try run(Tree.root.appending(path: "Scripts/clients").path, []).split(separator: "\n").last.map(String.init)
            ?? ""
    }

    /// That of .build/clients, which Scripts/clients makes if it is missing.
    static func python() throws -> String { try interpreter.get() }

    /// With its version.
    static func named(_ tool: String) throws -> String {
        let said = try run(tool, ["--version"])
        return "\(tool) \(said.firstMatch(of: /[0-9]+\.[0-9.]+/).map { String($0.0) } ?? "")"
    }

    static func path(_ name: String) -> String { Tree.root.appending(path: "Tests/Clients/\(name)").path }
}
