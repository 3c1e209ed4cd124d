internal import CSystemd
internal import Glibc

/// A thread for what may block (SQLite, decoding a sound): jobs run one at a time, in order of posting.
///
/// Results come back as `loop.post { … }`. The thread sleeps on a condition variable when there is nothing to do; that of
/// an occasional worker ends instead, and the next job starts another.
package final class Worker: Sendable {
    private let state: WorkerState

    package init(name: String, isOccasional: Bool = false) {
        state = WorkerState(name: name, isOccasional: isOccasional)
        if !isOccasional { state.start() }
    }

    /// Runs `job` on the worker's thread, after those posted before.
    package func post(_ job: @escaping @Sendable () -> Void) { state.post(job) }

    /// Runs what was posted, then ends the thread, which is joined unless the worker is occasional. Later posts are
    /// dropped.
    package func finish() { state.finish() }
}

private final class WorkerState: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [@Sendable () -> Void] = []
    private var isFinishing = false
    /// An occasional worker's thread is there.
    private var isRunning = false
    private var thread: pthread_t?
    private let name: String
    private let isOccasional: Bool

    init(name: String, isOccasional: Bool) {
        self.name = name
        self.isOccasional = isOccasional
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func start() {
        var made = pthread_t()
        let context = Unmanaged.passRetained(self)
        // The thread takes no signal, from its first instruction on: a SIGTERM that lands there would end the process
        // at once instead of being read from the loop.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let failed = pthread_create(
            &made, nil,
            { context in
                Unmanaged<WorkerState>.fromOpaque(context!).takeRetainedValue().serve()
                return nil
            }, context.toOpaque())
        precondition(failed == 0, "pthread_create: \(failed)")
        if isOccasional { pthread_detach(made) } else { thread = made }
    }

    func post(_ job: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(mutex)
        if !isFinishing { jobs.append(job) }
        let needsThread = isOccasional && !isRunning && !jobs.isEmpty
        if needsThread { isRunning = true }
        pthread_mutex_unlock(mutex)
        // With the lock still held, the thread would wake only to wait for it.
        if needsThread { start() } else { pthread_cond_signal(condition) }
    }

    private func serve() {
        csystemd_name_thread(name)
        while true {
            pthread_mutex_lock(mutex)
            while jobs.isEmpty && !isFinishing && !isOccasional { pthread_cond_wait(condition, mutex) }
            let batch = jobs
            jobs = []
            if batch.isEmpty { isRunning = false }
            pthread_mutex_unlock(mutex)
            if batch.isEmpty { return }
            for job in batch { job() }
        }
    }

    func finish() {
        pthread_mutex_lock(mutex)
        isFinishing = true
        let thread = thread
        self.thread = nil
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
        if let thread { pthread_join(thread, nil) }
    }
}
