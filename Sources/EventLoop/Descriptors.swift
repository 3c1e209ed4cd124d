internal import Glibc

/// The number of descriptors that this process may have.
package enum Descriptors {
    /// Raises the soft limit to `wanted`, or as far as the hard limit lets it; never lowers it. Returns what is in force.
    package static func raiseLimit(to wanted: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(wanted) else { return wanted }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
        setrlimit(resource, &limit)
        getrlimit(resource, &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
