//! What waits for what, without a controller: who waits for operations of other requests, and how
//! far it is looked whether one operation waits for another.

use super::graph::{Graph, Node, WALK_MAX};
use crate::board::when::{Moment, When};

/// Operations that wait for nothing, of as many requests as there are numbers here.
fn requests(of: &[u32]) -> Graph {
    let mut graph = Graph::default();
    for &count in of {
        graph.enters();
        for _ in 0..count {
            graph.add(Node::join());
        }
    }
    graph
}

/// How many operations wait for those of others when one more follows a token.
fn inexact(mut graph: Graph, token: When) -> u64 {
    let operation = graph.add(Node::join());
    graph.follow(operation, token);
    graph.taken_and_inexact().1
}

/// The first and the third operation, kept as a moment, are all from the first to the third.
#[test]
fn who_waits_for_what_lies_between_is_counted_where_it_is_of_another_request() {
    let kept = Moment::from(When::of(1).join(When::of(3))).token();
    assert_eq!(inexact(requests(&[1, 1, 1]), kept), 1, "the second is of another request");
    assert_eq!(inexact(requests(&[3]), kept), 0, "all are of one request");
    assert_eq!(inexact(requests(&[3, 2]), kept), 0, "the next one begins behind them");
    assert_eq!(inexact(requests(&[1, 0, 1, 1]), kept), 1, "one of the requests does nothing");
    let named = When::of(1).join(When::of(2)).join(When::of(3));
    assert_eq!(inexact(requests(&[1, 1, 1]), named), 0, "whoever names all waits for all");
}

/// As when a device is formatted: three operations are of nobody, and each that follows is of
/// another request.
#[test]
fn requests_behind_operations_of_nobody_are_others() {
    for (first, last) in [(2, 4), (4, 6)] {
        let mut graph = Graph::default();
        for number in 1..=6 {
            if number > 3 {
                graph.enters();
            }
            graph.add(Node::join());
        }
        let kept = Moment::from(When::of(first).join(When::of(last))).token();
        assert_eq!(inexact(graph, kept), 1, "from {first} to {last}");
    }
}

/// Operations in a row, each of which waits for the one before, and one apart from them.
#[test]
fn what_is_as_far_behind_as_is_looked_is_known_and_further_nothing_is_promised() {
    for (row, expected) in [(WALK_MAX, true), (WALK_MAX + 1, false)] {
        let mut graph = Graph::default();
        let row: Vec<u64> = (0..row).map(|_| graph.add(Node::join())).collect();
        let apart = graph.add(Node::join());
        row.windows(2).for_each(|pair| graph.obey(pair[1], pair[0]));
        assert_eq!(graph.is_independent(When::of(apart), row[0]), expected);
        assert!(!graph.is_independent(When::of(row[WALK_MAX - 1]), row[0]), "it waits");
    }
}
