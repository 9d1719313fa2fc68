use super::*;
use ftlab_flash::rng::{Purpose, Rng};

const SCALE: u64 = 1 << 20;

fn points(offsets: &[u8]) -> Vec<Point> {
    (100..).zip(offsets).map(|(ppn, &offset)| Point { offset, ppn }).collect()
}

fn learned(offsets: &[u8], gamma: u32) -> Vec<(Segment, Vec<u8>)> {
    let points = points(offsets);
    let last = 99 + offsets.len() as u32;
    let mut found = Vec::new();
    let tolerance = Tolerance { gamma, first: 100, last };
    learn(&points, tolerance, Scale::new(SCALE), |segment, members| {
        found.push((segment, members.iter().collect()));
    });
    found
}

/// Of each segment: its pages, whether it is accurate, and how far it is off at each page.
fn told(offsets: &[u8], gamma: u32) -> Vec<(Vec<u8>, bool, Vec<i64>)> {
    let points = points(offsets);
    let place = |page: u8| points.iter().find(|point| point.offset == page).expect("learned").ppn;
    let off = |segment: Segment, page: u8| {
        segment.predict(page, Scale::new(SCALE)) - i64::from(place(page))
    };
    let told = |(segment, pages): (Segment, Vec<u8>)| {
        let errors = pages.iter().map(|&page| off(segment, page)).collect();
        (pages, segment.is_accurate(), errors)
    };
    learned(offsets, gamma).into_iter().map(told).collect()
}

/// `docs/papers/leaftl2023.md#worked-examples`: runs and strides are one accurate segment each.
#[test]
fn pages_of_one_stride_are_one_accurate_segment() {
    for gamma in [0, 1, 4, 16] {
        assert_eq!(told(&[0, 1, 2, 3], gamma), [(vec![0, 1, 2, 3], true, vec![0; 4])]);
        assert_eq!(told(&[0, 2, 4, 6], gamma), [(vec![0, 2, 4, 6], true, vec![0; 4])]);
        assert_eq!(told(&[7], gamma), [(vec![7], true, vec![0])]);
    }
    let (slope, intercept) = learned(&[0, 2, 4, 6], 0)[0].0.line(Scale::new(SCALE));
    assert_eq!((slope, intercept), (0.5, 100.0));
}

/// The same: uneven pages need two segments, or one that may be off by one.
#[test]
fn uneven_pages_are_two_segments_or_an_approximate_one() {
    let exact = told(&[0, 1, 3, 6], 0);
    assert_eq!(exact, [(vec![0, 1], true, vec![0; 2]), (vec![3, 6], true, vec![0; 2])]);
    assert_eq!(told(&[0, 1, 3, 6], 1), [(vec![0, 1, 3, 6], false, vec![0; 4])]);
    let (slope, intercept) = learned(&[0, 1, 3, 6], 1)[0].0.line(Scale::new(SCALE));
    // The cone ends at 3/11 and 7/11; its middle is 5/11.
    assert!((slope - 5.0 / 11.0).abs() < 0.0003, "{slope}");
    assert!((intercept - 100.27).abs() < 0.01, "{intercept}");
}

/// The same: with gamma 4 two runs become one approximate segment, and page 2 is off by one.
#[test]
fn two_runs_are_one_segment_once_they_may_be_off_by_four() {
    let runs = [0, 1, 2, 3, 8, 9, 10, 11];
    for gamma in [0, 1] {
        let two = told(&runs, gamma);
        assert_eq!(
            two,
            [(vec![0, 1, 2, 3], true, vec![0; 4]), (vec![8, 9, 10, 11], true, vec![0; 4]),]
        );
    }
    assert_eq!(told(&runs, 4), [(runs.to_vec(), false, vec![0, 0, -1, -1, 1, 1, 0, 0])]);
    let (slope, intercept) = learned(&runs, 4)[0].0.line(Scale::new(SCALE));
    assert!((slope - 0.6191).abs() < 0.0006 && (intercept - 100.19).abs() < 0.01);
}

/// Whatever is learned, every page is in one segment, no further off than allowed, and what is said
/// lies in the run. Accurate segments have the pages at their stride and no others.
#[test]
fn nothing_learned_is_further_off_than_allowed() {
    let mut rng = Rng::new(5, Purpose::Workload);
    for round in 0..3000 {
        let gamma = [0, 1, 2, 4, 15, 16][round % 6];
        let density = 1 + rng.below(8);
        let offsets: Vec<u8> = (0..=255u8).filter(|_| rng.below(8) < density).collect();
        if offsets.is_empty() {
            continue;
        }
        for scale in [Scale::new(SCALE), Scale::new((1 << 30) - 1)] {
            let (mut first, points) = (0, points(&offsets));
            let tolerance = Tolerance { gamma, first: 100, last: 99 + points.len() as u32 };
            learn(&points, tolerance, scale, |segment, members| {
                let count = members.len() as usize;
                assert!(gamma > 0 || segment.is_accurate());
                if segment.is_accurate() {
                    assert_eq!(segment.strided(), members);
                }
                for point in &points[first..first + count] {
                    assert!(members.has(point.offset));
                    let said = segment.predict(point.offset, scale);
                    let off = (said - i64::from(point.ppn)).abs();
                    let allowed = if segment.is_accurate() { 0 } else { i64::from(gamma) };
                    assert!(off <= allowed, "{segment:?} {point:?} off by {off}");
                    assert!((100..100 + points.len() as i64).contains(&said));
                }
                first += count;
            });
            assert_eq!(first, points.len());
        }
    }
}

/// What it costs that a segment says no page beyond its run: pieces of a run at random, of which
/// the first and the last have its ends, in blocks of 64 pages.
#[test]
fn keeping_within_the_run_costs_few_segments() {
    let mut rng = Rng::new(5, Purpose::Workload);
    let scale = Scale::new(SCALE);
    for gamma in [1, 4, 16] {
        let (mut within, mut anywhere) = (0u32, 0u32);
        for _ in 0..500 {
            let (mut offset, mut ppn, mut points) = (rng.below(8), 100, Vec::new());
            while offset < 256 && ppn < 164 {
                points.push(Point { offset: offset as u8, ppn });
                (offset, ppn) = (offset + 1 + rng.below(8), ppn + 1);
            }
            let last = ppn - 1;
            let count = |first, last| {
                let mut count = 0;
                learn(&points, Tolerance { gamma, first, last }, scale, |_, _| count += 1);
                count
            };
            within += count(100, last);
            anywhere += count(0, u32::MAX);
        }
        assert!(within >= anywhere, "gamma {gamma}: nothing is gained by keeping within");
        // 3,258 for 3,236, 747 for 635, 507 for 500.
        assert!(4 * within < 5 * anywhere, "gamma {gamma}: {within} for {anywhere} segments");
    }
}

/// No accurate segment goes through pages of two strides, however far one may be off, and none that
/// is approximate where nothing may be off.
#[test]
fn a_line_of_a_kind_that_cannot_be_is_none() {
    let scale = Scale::new(SCALE);
    let fitted =
        |offsets: &[u8], gamma, kind| fit(&points(offsets), gamma, (kind, scale)).is_some();
    for gamma in [0, 4] {
        assert!(fitted(&[0, 2, 4], gamma, Kind::Accurate));
        assert!(!fitted(&[0, 2, 4, 5], gamma, Kind::Accurate));
        assert_eq!(fitted(&[0, 2, 4, 5], gamma, Kind::Approximate), gamma > 0);
    }
}
