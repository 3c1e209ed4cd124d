internal import Base

/// Which senders make a connection for every push: each by what it shows of itself, so that one does not give another a bad
/// name.
struct ConnectionHabits {
    private struct Habit {
        /// Connections in a row that carried one push and went.
        var singles: Int
        var last: Instant
    }

    private var habits: [String: Habit] = [:]

    /// Senders that are remembered at a time.
    private static let most = 256

    /// A connection is over.
    mutating func left(_ sender: String, isSingle: Bool, now: Instant) {
        if habits.count >= Self.most && habits[sender] == nil { habits = [:] }
        habits[sender] = isSingle ? Habit(singles: (habits[sender]?.singles ?? 0) + 1, last: now) : nil
    }

    /// The third in a row, lately: it is no accident.
    func isHabit(of sender: String, now: Instant) -> Bool {
        guard let habit = habits[sender] else { return false }
        return habit.singles >= 3 && now - habit.last < .seconds(30)
    }
}
