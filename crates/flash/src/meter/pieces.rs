//! Requests of the host that reach the device in pieces, because their parts do not lie side by
//! side there: each counts as one, from its arrival until its last piece is done. The driver names
//! each piece, the device serves it as before; times run from first arrival and admission to last
//! completion, and stages still sum.

use crate::request::{Completion, Stages};

/// A piece of a request that the host sent as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which request of the host it is of: no other that is under way has this number.
    pub of: u64,
    /// How many pieces that has.
    pub pieces: u32,
}

/// What the request taken last is of the host's.
#[derive(Clone, Copy, Debug, Default)]
enum Last {
    /// All of it, unless the next one is told to be a piece.
    #[default]
    Whole,
    /// This piece of it, which is not done yet.
    Piece(Piece),
    /// A piece of it, and others are still to come.
    Waiting,
    /// Its last piece; how all of it went.
    Done(Completion),
}

/// A request of which a piece was taken.
#[derive(Clone, Copy, Debug)]
struct Open {
    of: u64,
    /// Pieces that are not done.
    left: u32,
    /// How those that are done went together.
    whole: Option<Completion>,
}

/// Requests in pieces. Those under way are at most as many as the driver's queue holds, and a list
/// of none needs no memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    last: Last,
    open: Vec<Open>,
}

impl Pieces {
    /// The next request is a piece.
    pub fn next(&mut self, piece: Piece) {
        self.last = Last::Piece(piece);
    }

    /// The present request is this piece, or a whole one, whatever the one before was.
    pub fn present_is(&mut self, piece: Option<Piece>) {
        self.last = piece.map_or(Last::Whole, Last::Piece);
    }

    /// Whether the present request is all that the host sent, and so was the one before.
    #[inline]
    pub fn is_whole(&self) -> bool {
        matches!(self.last, Last::Whole)
    }

    /// The present request is taken; whether it is the first piece, or a whole request again.
    #[cold]
    pub fn begins(&mut self) -> bool {
        let Last::Piece(Piece { of, pieces }) = self.last else {
            self.last = Last::Whole;
            return true;
        };
        let is_first = self.open.iter().all(|open| open.of != of);
        if is_first {
            assert!(pieces > 0, "request {of} of the host has no piece");
            self.open.push(Open { of, left: pieces, whole: None });
        }
        is_first
    }

    /// The present request is taken and will be done after others were taken: the piece that it is,
    /// to be told again before it is done.
    pub fn set_aside(&mut self) -> Option<Piece> {
        match std::mem::take(&mut self.last) {
            Last::Piece(piece) => Some(piece),
            _ => None,
        }
    }

    /// The present request is done; how all of it went if that was its last piece.
    #[cold]
    pub fn done(&mut self, completion: &Completion) -> Option<Completion> {
        let Last::Piece(Piece { of, .. }) = self.last else { return Some(*completion) };
        let index = self.open.iter().position(|open| open.of == of).expect("a piece was taken");
        let open = &mut self.open[index];
        let whole = open.whole.map_or(*completion, |whole| joined(whole, *completion));
        open.left -= 1;
        if open.left > 0 {
            open.whole = Some(whole);
            self.last = Last::Waiting;
            return None;
        }
        self.open.swap_remove(index);
        self.last = Last::Done(whole);
        Some(whole)
    }

    /// How the host's request went of which `completion` is the present one's: none while others of
    /// its pieces are to come.
    pub fn whole(&self, completion: &Completion) -> Option<Completion> {
        match self.last {
            Last::Whole | Last::Piece(_) => Some(*completion),
            Last::Waiting => None,
            Last::Done(whole) => Some(whole),
        }
    }

    /// The present request failed, and nothing will come of others in pieces: how many of the
    /// host's that are.
    pub fn fail(&mut self) -> u64 {
        let whole = u64::from(!matches!(self.last, Last::Piece(_)));
        self.last = Last::Whole;
        whole + self.open.drain(..).len() as u64
    }

    pub fn reset(&mut self) {
        self.last = Last::Whole;
        self.open.clear();
    }
}

/// How a request went that consists of what is known of it and one piece more: from the first
/// arrival and the first admission to the last completion. The stages are those of the piece that
/// was done last, behind those of the others where it could not begin before they were done.
fn joined(whole: Completion, piece: Completion) -> Completion {
    let arrival = whole.arrival.min(piece.arrival);
    let waited = |one: &Completion| Stages {
        driver_queue: one.stages.driver_queue + (one.arrival - arrival),
        ..one.stages
    };
    let (before, last) = (waited(&whole), waited(&piece));
    let stages = if piece.completed <= whole.completed {
        before
    } else if piece.admitted >= whole.completed {
        Stages {
            driver_queue: before.driver_queue + (piece.admitted - whole.completed),
            host_link: before.host_link + last.host_link,
            controller: before.controller + last.controller,
            buffer: before.buffer + last.buffer,
            map: before.map + last.map,
            flash: before.flash + last.flash,
            channel: before.channel + last.channel,
        }
    } else {
        last
    };
    let unreadable = match (whole.unreadable, piece.unreadable) {
        (Some(one), Some(other)) => {
            let mut both = one;
            both.pages += other.pages;
            Some(both)
        }
        (one, other) => one.or(other),
    };
    Completion {
        arrival,
        admitted: whole.admitted.min(piece.admitted),
        completed: whole.completed.max(piece.completed),
        stages,
        unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Unreadable;
    use crate::units::{Lpn, Nanos};

    fn done(arrival: Nanos, admitted: Nanos, completed: Nanos) -> Completion {
        let stages = Stages {
            driver_queue: admitted - arrival,
            flash: completed - admitted,
            ..Stages::default()
        };
        Completion { arrival, admitted, completed, stages, unreadable: None }
    }

    fn whole(pieces: &[Completion]) -> Completion {
        let mut all = Pieces::default();
        let mut last = None;
        for (index, piece) in pieces.iter().enumerate() {
            all.next(Piece { of: 7, pieces: pieces.len() as u32 });
            assert_eq!(all.begins(), index == 0);
            last = all.done(piece);
            assert_eq!(last.is_some(), index + 1 == pieces.len());
        }
        let last = last.unwrap();
        assert_eq!(last.stages.total(), last.system(), "{last:?}");
        last
    }

    /// One after the other: all of the time in the device is the request's.
    #[test]
    fn pieces_that_wait_for_each_other_are_one_path() {
        let one = whole(&[done(10, 15, 40), done(10, 40, 60), done(10, 61, 70)]);
        assert_eq!((one.arrival, one.admitted, one.completed), (10, 15, 70));
        assert_eq!((one.queue(), one.device(), one.system()), (5, 55, 60));
        assert_eq!((one.stages.driver_queue, one.stages.flash), (6, 54));
    }

    /// Side by side: the last one decides, whichever it is.
    #[test]
    fn pieces_side_by_side_take_as_long_as_the_slowest() {
        for pieces in [[done(0, 2, 30), done(0, 2, 80)], [done(0, 2, 80), done(0, 2, 30)]] {
            let one = whole(&pieces);
            assert_eq!((one.queue(), one.device()), (2, 78));
            assert_eq!((one.stages.driver_queue, one.stages.flash), (2, 78));
        }
        // In a closed loop a piece arrives when there is room for it.
        let one = whole(&[done(5, 5, 30), done(20, 20, 50)]);
        assert_eq!((one.arrival, one.system(), one.stages.driver_queue), (5, 45, 15));
    }

    #[test]
    fn pieces_that_are_set_aside_are_told_again_when_they_are_done() {
        let mut pieces = Pieces::default();
        let piece = Piece { of: 7, pieces: 2 };
        let aside = [true, false].map(|is_first| {
            pieces.next(piece);
            assert_eq!(pieces.begins(), is_first);
            let aside = pieces.set_aside();
            assert!(pieces.is_whole() && pieces.set_aside().is_none(), "others may come");
            aside.expect("a piece was taken")
        });
        pieces.next(aside[0]);
        assert_eq!(pieces.done(&done(0, 0, 5)), None);
        pieces.next(aside[1]);
        let whole = pieces.done(&done(0, 2, 9)).expect("the last piece");
        assert_eq!((whole.arrival, whole.admitted, whole.completed), (0, 0, 9));
    }

    #[test]
    fn pieces_of_several_requests_may_come_mixed() {
        let mut all = Pieces::default();
        let mut take = |of, completed| {
            all.next(Piece { of, pieces: 2 });
            let first = all.begins();
            (first, all.done(&done(0, 0, completed)).map(|whole| whole.completed))
        };
        assert_eq!(take(1, 10), (true, None));
        assert_eq!(take(2, 50), (true, None));
        assert_eq!(take(1, 30), (false, Some(30)));
        assert_eq!(take(2, 40), (false, Some(50)));
        assert!(all.begins() && all.is_whole(), "the next one is nobody's piece");
        all.next(Piece { of: 3, pieces: 2 });
        all.begins();
        assert_eq!((all.fail(), all.is_whole(), all.fail()), (1, true, 1));
    }

    /// Behind one another every stage of both counts, and every page that could not be read.
    #[test]
    fn stages_and_unreadable_pages_of_pieces_behind_one_another_add_up() {
        let stages = Stages {
            driver_queue: 2,
            host_link: 3,
            controller: 4,
            buffer: 5,
            map: 6,
            flash: 7,
            channel: 8,
        };
        let piece = |admitted, pages| Completion {
            arrival: admitted - 2,
            admitted,
            completed: admitted + 33,
            stages,
            unreadable: Some(Unreadable { first: Lpn(pages), pages }),
        };
        let one = whole(&[piece(12, 2), piece(50, 3)]);
        assert_eq!((one.arrival, one.admitted, one.completed), (10, 12, 83));
        // 5 between 45, when the first was done, and 50, when the other was admitted.
        assert_eq!(one.stages.all(), [7, 6, 8, 10, 12, 14, 16]);
        assert_eq!(one.unreadable, Some(Unreadable { first: Lpn(2), pages: 5 }));
    }

    /// Of a request in pieces only what was done last says how it went.
    #[test]
    fn a_request_went_as_its_last_piece_tells() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.whole(&done(0, 0, 9)), Some(done(0, 0, 9)), "all of it");
        let mut take = |completed| {
            pieces.next(Piece { of: 7, pieces: 2 });
            pieces.begins();
            pieces.done(&done(0, 0, completed));
            pieces.whole(&done(0, 0, completed)).map(|whole| whole.completed)
        };
        assert_eq!([take(50), take(30)], [None, Some(50)]);
        pieces.next(Piece { of: 8, pieces: 2 });
        pieces.begins();
        pieces.reset();
        assert!(pieces.is_whole() && pieces.open.is_empty());
    }
}
