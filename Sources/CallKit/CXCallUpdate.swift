internal import DBus
public import Foundation

/// What is new about a call. What was never set keeps its value.
open class CXCallUpdate: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: its owner's until it is reported, which copies what it says at once.
    /// Whom the user would call back.
    open var remoteHandle: CXHandle?
    /// What the call is shown as; ringd has no address book that could know better.
    open var localizedCallerName: String?

    private var video: Bool?
    private var holding: Bool?
    private var grouping: Bool?
    private var ungrouping: Bool?
    private var dtmf: Bool?

    /// A video call; false, if never set.
    open var hasVideo: Bool {
        get { video ?? false }
        set { video = newValue }
    }
    /// It can be held; true, if never set.
    open var supportsHolding: Bool {
        get { holding ?? true }
        set { holding = newValue }
    }
    /// It can join a conference; true, if never set.
    open var supportsGrouping: Bool {
        get { grouping ?? true }
        set { grouping = newValue }
    }
    /// It can leave one; true, if never set.
    open var supportsUngrouping: Bool {
        get { ungrouping ?? true }
        set { ungrouping = newValue }
    }
    /// Tones can be sent; true, if never set.
    open var supportsDTMF: Bool {
        get { dtmf ?? true }
        set { dtmf = newValue }
    }

    /// Nothing is set yet.
    public override init() { super.init() }

    /// Another update that says the same.
    open func copy(with zone: NSZone? = nil) -> Any {
        let other = CXCallUpdate()
        other.remoteHandle = remoteHandle
        other.localizedCallerName = localizedCallerName
        other.video = video
        other.holding = holding
        other.grouping = grouping
        other.ungrouping = ungrouping
        other.dtmf = dtmf
        return other
    }

    /// As `CallProvider1` takes it.
    var entries: [DBusValue.Entry] {
        var out: [DBusValue.Entry] = []
        if let localizedCallerName { out.append(.init("caller", .string(localizedCallerName))) }
        if let remoteHandle {
            out.append(.init("handle", .string(remoteHandle.value)))
            out.append(.init("handle-type", .string(remoteHandle.type.word)))
        }
        for (key, value) in [
            ("video", video), ("supports-holding", holding), ("supports-grouping", grouping),
            ("supports-ungrouping", ungrouping), ("supports-dtmf", dtmf),
        ] {
            if let value { out.append(.init(key, .bool(value))) }
        }
        return out
    }
}
