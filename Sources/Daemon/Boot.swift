internal import Base

/// This boot's id: instants of `CLOCK_BOOTTIME` mean nothing after another one.
enum Boot {
    static let id: String = {
        let text = (try? Paths.read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? nil
        return text.map { String($0.prefix { $0 != "\n" }) } ?? "unknown"
    }()
}
