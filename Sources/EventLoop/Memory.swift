internal import CSystemd

/// What a daemon that waits most of its life need not hold.
package enum Memory {
    /// Gives back the pages of code and constants that start-up (or a call) touched. They are the files' own bytes and
    /// come back from the page cache when they are needed: some soft faults against megabytes of a waiting process.
    package static func releaseCleanPages() { csystemd_release_clean_pages() }
}
