//! Words of every bundled claim.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::reproduce::bundle::{EXPERIMENTS, find};
use crate::reproduce::jobs::{Length, Setting};
use crate::reproduce::study::Study;

fn told_by(name: &str, of: impl FnMut(&Claim, Measures)) {
    let mut of = of;
    let readings = BTreeMap::new();
    let setting = Setting { length: Length::Whole, trace_dir: None, readings: &readings };
    let definition = Arc::new(find(name).unwrap());
    let study = Study::all(&[definition], &setting).unwrap().remove(0);
    let evaluator = study.evaluator(study.supposed());
    let teller = Teller { evaluator: &evaluator, jobs: &study.jobs };
    for claim in &study.definition.claims {
        let measured = claim.measured.as_ref().and_then(|text| evaluator.value(text, &[]).ok());
        let measured = measured.map_or(Value::Null, |value| metrics::plain(&value));
        of(claim, teller.told(claim, &measured));
    }
}

fn words(experiment: &str, claim: &str) -> Vec<String> {
    let mut found = Vec::new();
    told_by(experiment, |one, told| {
        if one.name == claim {
            found = told.numbers.into_iter().map(|number| number.words).collect();
        }
    });
    found
}

#[test]
fn every_number_of_a_list_is_told_by_itself() {
    let of = |scheme: &str| format!("99th percentile of the response of {scheme} on financial");
    let wanted = ["page", "dftl", "fast"].map(of);
    assert_eq!(words("dftl2014-fig12", "financial-dftl-near-page"), wanted);
    let of = |blocks: u32| format!("erased blocks of dftl on prefix, t{blocks}");
    let wanted = [3, 4, 8, 16, 32, 64, 128].map(of);
    assert_eq!(words("dftl2014-gc-threshold", "prefix-collects-more"), wanted);
}

/// No number of a run is told by the expression that computes it, and most calculations are
/// short enough to be told in full.
#[test]
fn every_bundled_claim_is_told_in_words() {
    let (mut all, mut untold) = (0, 0);
    for bundled in EXPERIMENTS {
        told_by(bundled.name, |claim, told| {
            let name = format!("{}.{}", bundled.name, claim.name);
            for number in &told.numbers {
                assert!(!number.words.contains("('"), "{name}: {}", number.words);
                all += 1;
                untold += usize::from([CALCULATION, OF_PRINT].contains(&number.words.as_str()));
            }
            let measures_runs = told.expressions.iter().any(|(_, text)| text.contains("mean('"));
            assert!(!measures_runs || !told.parts.is_empty(), "{name} is made of nothing");
            for part in &told.parts {
                assert_ne!(part.metric, "", "{name}");
                assert!(part.run.is_empty() || !part.workload.is_empty(), "{name}");
            }
        });
    }
    assert!(all > 900, "{all} numbers");
    assert!(6 * untold < all, "{untold} of {all} are not told");
}
