//! Who follows a conversation from outside: it tells when the server ends, and hears of requests.

/// Every question has an answer for conversations that nobody follows: `()`.
pub trait Follower {
    /// Whether the server is about to end: what comes from now on is refused with ESHUTDOWN.
    fn is_ending(&self) -> bool {
        false
    }
    /// The first byte of a request has come; the rest should follow soon.
    fn begun(&self) {}
    /// The whole request has come.
    fn arrived(&self) {}
    /// It was answered, or refused.
    fn answered(&self) {}
}

impl Follower for () {}
