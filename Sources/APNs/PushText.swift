/// Texts as borrowed bytes, all at once.
enum PushText {
    static func with(
        _ a: String, _ b: String, _ c: String, _ d: String, _ e: String,
        _ body: (Bytes, Bytes, Bytes, Bytes, Bytes) -> Void
    ) {
        var (a, b, c, d, e) = (a, b, c, d, e)
        a.withUTF8 { a in
            b.withUTF8 { b in c.withUTF8 { c in d.withUTF8 { d in e.withUTF8 { e in body(a, b, c, d, e) } } } }
        }
    }
}
