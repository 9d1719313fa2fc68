use super::*;
use crate::bundled::files_in;
use crate::reproduce::bundle::{EXPERIMENTS, find};
use crate::reproduce::readings::{Candidate, READINGS, Readings};

#[test]
fn every_experiment_file_is_bundled_and_everything_in_it_exists() {
    assert_eq!(files_in("experiments").len(), EXPERIMENTS.len());
    let mut checked = std::collections::BTreeSet::new();
    for bundled in EXPERIMENTS {
        let definition = find(bundled.name).unwrap();
        let readings = BTreeMap::new();
        let setting = Setting { length: Length::Whole, trace_dir: None, readings: &readings };
        let jobs = jobs(&definition, &setting).unwrap();
        for job in jobs.iter().filter(|job| job.missing.is_none()) {
            // A device and a scheme with their settings; labels make most of them alike.
            if checked.insert(job.key()) {
                job.check().unwrap_or_else(|error| panic!("{}: {error}", job.id));
            }
        }
    }
}

#[test]
fn what_has_no_quick_form_is_left_out_of_the_quick_set_alone() {
    let definition = find("learnedftl2024").unwrap();
    let left_out = |length| {
        let readings = BTreeMap::new();
        let jobs = jobs(&definition, &Setting { length, trace_dir: None, readings: &readings });
        let is_left_out = |job: &Job| job.missing.is_some();
        jobs.unwrap().into_iter().filter(is_left_out).map(|job| job.workload).collect::<Vec<_>>()
    };
    assert_eq!(left_out(Length::Quick), ["overwritten"; 3]);
    for length in [Length::Whole, Length::World] {
        assert_eq!(left_out(length), [""; 0], "{length:?}");
    }
}

#[test]
fn what_supports_an_explanation_is_a_claim() {
    let all: Vec<Definition> =
        EXPERIMENTS.iter().map(|bundled| find(bundled.name).unwrap()).collect();
    let names: Vec<String> = all
        .iter()
        .flat_map(|one| one.claims.iter().map(|claim| format!("{}.{}", one.name, claim.name)))
        .collect();
    for claim in all.iter().flat_map(|one| &one.claims) {
        for name in &claim.supported_by {
            assert!(names.contains(name), "{}: no claim is called {name}", claim.name);
        }
    }
}

/// The tables of a full run are of these experiments, not of former ones.
#[test]
fn the_documented_claims_are_those_of_the_files() {
    let docs = format!("{}/../../docs", env!("CARGO_MANIFEST_DIR"));
    let Ok(head) = std::fs::read_to_string(format!("{docs}/claims.md")) else {
        eprintln!("skipped: the crate stands alone, without the project's docs/claims.md");
        return;
    };
    let mut claims = 0;
    for bundled in EXPERIMENTS {
        let experiment = find(bundled.name).unwrap();
        let file = format!("{docs}/claims/{}.md", experiment.paper.name());
        let documented = std::fs::read_to_string(&file).expect("a page per paper");
        claims += experiment.claims.len();
        for claim in &experiment.claims {
            let name = format!("`{}.{}`", bundled.name, claim.name);
            assert!(documented.contains(&name), "{file} lacks {name}");
        }
    }
    assert!(head.contains(&format!("{claims} claims of {}", EXPERIMENTS.len())));
}

fn own(text: &str) -> Definition {
    let head = "title = 'T'\npaper = 'ftlab'\nitem = 'I'\nabout = 'A'\nreading = 'r'\n";
    toml_edit::de::from_str(&format!("{head}{text}")).unwrap()
}

fn readings(choices: &str) -> std::sync::Arc<Readings> {
    let text = format!("about = 'A'\njudged_by = 'B'\n{choices}");
    std::sync::Arc::new(toml_edit::de::from_str(&text).unwrap())
}

const CHOICES: &str = "[[choices]]\nname = 'start'\nquestion = 'Q'\nkind = 'ours'\ntext = 'T'\n\
    why = 'W'\nliteral = 'a'\nbest = 'b'\n\
    [[choices.candidates]]\nname = 'a'\nabout = 'A'\n\
    [[choices.candidates]]\nname = 'b'\nabout = 'B'\napply = [\n\
    { options = { precondition = 'touch', set = ['gc.threshold=7', 'workload.span=32MiB'] } },\n\
    { schemes = ['adapt'], options = { set = ['adapt.theta0=9', 'adapt.interval=5000'] } },\n\
    { workloads = ['w'], workload = 'randread:bs=4k,span=1MiB,seed=3' } ]\n";

/// A reading stands below the experiment and below presets, a recorded trace below neither.
#[test]
fn readings_stand_below_what_is_stated() {
    let definition = own("[options]\ndevice = 'slc_small'\nset = ['gc.threshold=9']\n\
        [workloads]\nw = { workload = 'oltp_demo' }\nfile = { file = 'x.csv' }\n\
        [[runs]]\nworkloads = ['w', 'file']\nschemes = ['ideal_page', 'adapt:t32']\n");
    let choices = readings(CHOICES);
    let told = |reading: Reading| {
        let readings = BTreeMap::from([("r".to_owned(), reading)]);
        let setting = Setting { length: Length::Whole, trace_dir: None, readings: &readings };
        jobs(&definition, &setting).unwrap().iter().map(Job::command).collect::<Vec<_>>()
    };
    let literal = told(Reading::literal(&choices));
    assert_eq!(
        literal[0],
        "ftlab run --scheme ideal_page --workload oltp_demo --device slc_small --set \
         gc.threshold=9 --quiet"
    );
    let best = told(Reading::best(&choices));
    assert_eq!(
        best[0],
        "ftlab run --scheme ideal_page --workload randread:bs=4k,span=1MiB,seed=3 --device \
         slc_small --precondition touch --set workload.span=32MiB --set gc.threshold=9 --quiet"
    );
    assert!(best[1].contains("adapt.interval=5000"), "{}", best[1]);
    assert!(!best[1].contains("theta0"), "the preset is what is compared: {}", best[1]);
    assert!(best[2].contains("x.csv") && best[2].contains("touch"), "{}", best[2]);
    assert!(!best[2].contains("workload."), "a recorded trace is as it is: {}", best[2]);
    // A folder that lacks the real trace changes nothing about the reading.
    let empty = tempfile::tempdir().unwrap();
    let readings = BTreeMap::from([("r".to_owned(), Reading::best(&choices))]);
    let setting =
        Setting { length: Length::Whole, trace_dir: Some(empty.path()), readings: &readings };
    let there = jobs(&definition, &setting).unwrap()[0].command();
    assert!(there.contains("randread:bs=4k,span=1MiB,seed=3"), "{there}");
    assert!(there.contains("workload.span=32MiB"), "{there}");
    let shifted = told(Reading { seed_shift: 2000, ..Reading::best(&choices) });
    assert!(shifted[0].contains("seed=2003"), "{}", shifted[0]);
    assert_eq!(shifted[2], best[2]);
    let stand_in = told(Reading { seed_shift: 2000, ..Reading::literal(&choices) });
    assert!(stand_in[0].contains("seed=2001"), "{}", stand_in[0]);
}

/// Whatever candidate is chosen, every run of its paper can be planned.
#[test]
fn every_candidate_of_every_choice_makes_legal_runs() {
    let definitions: Vec<Definition> =
        EXPERIMENTS.iter().map(|bundled| find(bundled.name).unwrap()).collect();
    assert_eq!(files_in("readings").len(), READINGS.len());
    let mut checked = std::collections::BTreeSet::new();
    for bundled in READINGS {
        let of = Readings::find(bundled.name).unwrap();
        let own = |one: &&Definition| one.reading.as_deref() == Some(bundled.name);
        let used: std::collections::BTreeSet<&String> = definitions
            .iter()
            .filter(own)
            .flat_map(|one| {
                let inspected = one.inspections.iter().flat_map(|block| &block.workloads);
                one.runs.iter().flat_map(|block| &block.workloads).chain(inspected)
            })
            .collect();
        let applies = of.choices.iter().flat_map(|choice| &choice.candidates);
        for name in
            applies.flat_map(|one| &one.apply).flat_map(|one| one.workloads.iter().flatten())
        {
            assert!(used.contains(name), "{}: no run has workload {name}", bundled.name);
        }
        let claims: Vec<String> = definitions
            .iter()
            .flat_map(|one| one.claims.iter().map(|claim| format!("{}.{}", one.name, claim.name)))
            .collect();
        for target in of.choices.iter().flat_map(|choice| &choice.fitted_to) {
            let head = target.trim_end_matches('*');
            assert!(claims.iter().any(|name| name.starts_with(head)), "no claim {target}");
        }
        let single = of.choices.iter().flat_map(|choice| {
            let with = |candidate: &Candidate| {
                Reading::best(&of).with(&choice.name, &candidate.name).unwrap()
            };
            choice.candidates.iter().map(with).collect::<Vec<_>>()
        });
        for reading in single.chain([Reading::literal(&of), Reading::best(&of)]) {
            let names: Vec<String> =
                reading.pairs().map(|(one, two)| format!("{}={}", one.name, two.name)).collect();
            let readings = BTreeMap::from([(bundled.name.to_owned(), reading)]);
            let setting = Setting { length: Length::World, trace_dir: None, readings: &readings };
            for definition in definitions.iter().filter(own) {
                for job in jobs(definition, &setting).unwrap() {
                    if job.missing.is_none() && checked.insert(job.key()) {
                        job.check().unwrap_or_else(|error| {
                            panic!("{}: {}: {error}", names.join(" "), job.id)
                        });
                    }
                }
            }
        }
    }
    assert!(checked.len() > 500, "{} runs", checked.len());
}

#[test]
fn what_contradicts_a_statement_is_a_claim() {
    let all: Vec<Definition> =
        EXPERIMENTS.iter().map(|bundled| find(bundled.name).unwrap()).collect();
    let named = |name: &str| {
        all.iter().any(|one| {
            one.claims.iter().any(|claim| format!("{}.{}", one.name, claim.name) == name)
        })
    };
    let printed: Vec<_> = all.iter().flat_map(|one| &one.claims).filter(|c| c.printed).collect();
    assert!(printed.len() > 400, "{}", printed.len());
    for by in printed.iter().filter_map(|claim| claim.contradicted_by.as_ref()) {
        assert!(named(by), "no claim is called {by}");
    }
}
