/// `apns-push-type`, and the topic that goes with it (apns.md 1.4).
package enum PushType: String, Sendable, CaseIterable {
    case alert
    case background
    case voip
    case complication
    case fileprovider
    case mdm
    case location
    case liveactivity
    case pushtotalk
    case widgets
    case controls

    /// What the topic has behind the bundle id; empty for alert, background and mdm (whose topic is the certificate's).
    package var suffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    private static let suffixes: [(type: PushType, bytes: [UInt8])] =
        allCases.filter { !$0.suffix.isEmpty }.map { ($0, Array($0.suffix.utf8)) }

    /// The kind of topic that `topic` is, by its suffix: nil for a bare bundle id.
    package static func ofTopic(_ topic: Bytes) -> PushType? {
        for (type, bytes) in suffixes where topic.hasSuffix(bytes) { return type }
        return nil
    }

    static func named(_ text: Bytes) -> PushType? {
        if text.equals("voip") { return .voip }
        if text.equals("alert") { return .alert }
        return allCases.first { text.equals(string: $0.rawValue) }
    }
}
