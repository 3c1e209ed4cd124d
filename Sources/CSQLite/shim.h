// SQLite 3. SQLITE_TRANSIENT is a casted -1, which does not import.
#pragma once
#include <sqlite3.h>
static inline int csqlite_bind_text(sqlite3_stmt *s, int i, const char *t, int n) {
    return sqlite3_bind_text(s, i, t, n, SQLITE_TRANSIENT);
}
static inline int csqlite_bind_blob(sqlite3_stmt *s, int i, const void *b, int n) {
    return sqlite3_bind_blob(s, i, b, n, SQLITE_TRANSIENT);
}
