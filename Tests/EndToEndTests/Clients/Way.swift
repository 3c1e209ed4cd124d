/// What leads a sender here instead of to Apple (apns.md 4.3).
enum Way: String, CaseIterable {
    case parameters
    case door = "CONNECT door"
    case names = "nss_wrapper"
    case network = "private network"

    var words: String {
        switch self {
        case .parameters:
            "the sender's own parameters for host, port and authority; where it has none, a class attribute (kalyke: a property) that holds them"
        case .door:
            "Apple's host names, and the variables of `ringctl apns env` (PHP: its setting `curl.cainfo` besides)"
        case .names:
            "Apple's host names on ports 2195, 2196 and 2197, which libnss-wrapper resolves to loopback; no root"
        case .network:
            "Apple's host names on ports 443, 2195 and 2196, in a network and mount namespace with a hosts file of its own"
        }
    }

    /// Who can take it.
    var senders: [PushSender] {
        switch self {
        case .parameters, .network: PushSender.allCases
        // Legacy senders know no proxy; aioapns's own option for one fails on Python 3.11.
        case .door: [.curl, .phpCurl, .pyapnsClient, .httpx, .kalyke, .mopyapns]
        // 443 is not to be had without root.
        case .names: [.curl, .mopyapns, .pushjack, .phpStreams]
        }
    }
}
