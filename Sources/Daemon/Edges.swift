internal import Base
internal import BusService
internal import Calls
internal import Config
internal import Crypto
internal import DBus
internal import Desktop
internal import EventLoop
internal import Gateway
internal import Ringtone
internal import Store
internal import Webhooks

/// Everything that touches the world, made once at start. Non-Sendable and confined to the daemon's loop.
final class Edges {
    let bus: SessionBus?
    let service = BusService()
    let notifications: NotificationClient
    let haptics: Haptics
    let dnd: DoNotDisturb
    let inhibitor: Inhibitor
    let callAudio: CallAudio
    let handoffs: Handoffs
    let links = AppLinks()
    let missed: MissedNotices
    let store: Store
    let worker: Worker
    var player: RingPlayer?
    var catalog: SoundCatalog
    var gateway: Gateway?
    var credentials: Credentials?
    /// Why there is no gateway; for the doctor.
    var gatewayFault: String?
    /// Nil until webhooks are first on.
    var webhooks: WebhookServer?
    /// Why there are none; for the doctor.
    var webhookFault: String?
    /// Our own sound cannot be heard at present: the notification server is asked to play one.
    var needsServerSound = false

    init(
        bus: SessionBus?, notifications: NotificationClient, haptics: Haptics, dnd: DoNotDisturb,
        inhibitor: Inhibitor, callAudio: CallAudio, handoffs: Handoffs, store: Store, worker: Worker,
        catalog: SoundCatalog
    ) {
        self.bus = bus
        self.notifications = notifications
        self.haptics = haptics
        self.dnd = dnd
        self.inhibitor = inhibitor
        self.callAudio = callAudio
        self.handoffs = handoffs
        self.store = store
        self.worker = worker
        self.catalog = catalog
        missed = MissedNotices(notifications)
    }

    /// The core's wish for sound, with the names looked up.
    func ring(_ wish: Calls.RingWish?, _ configuration: Configuration, _ appSound: String?) {
        guard let wish, configuration.sound.isOn else {
            player?.wish = nil
            needsServerSound = false
            return
        }
        let sound = catalog.resolve(
            SoundRequest(pushed: wish.sound, app: appSound, user: configuration.sound.ringtone))
        player?.wish = Ringtone.RingWish(
            id: wish.call, sound: sound, volume: Double(configuration.sound.volume) / 100,
            ramp: configuration.sound.ramp.seconds, soft: wish.isSoft)
    }

    /// The sound of a call that names none, decoded ahead of time.
    func preload(_ configuration: Configuration) {
        player?.preload(catalog.resolve(SoundRequest(user: configuration.sound.ringtone)))
        for app in configuration.apps.values.prefix(4) where app.sound != nil {
            player?.preload(catalog.resolve(SoundRequest(app: app.sound, user: configuration.sound.ringtone)))
        }
    }
}
