//! Plans of failures, one operation after the other, and what failures say.

use super::*;

fn plan(set: impl FnOnce(&mut NandSettings)) -> FaultPlan {
    let mut settings = NandSettings::default();
    set(&mut settings);
    FaultPlan::new(&settings, 1)
}

#[test]
fn a_cut_takes_the_power_from_everything_until_it_is_back() {
    let mut plan = plan(|_| ());
    assert!(plan.has_power() && plan.is_quiet());
    plan.cut_power_after(2, CutOutcome::Torn);
    assert!(!plan.is_quiet());
    // A page that only gathers counts as an operation as well.
    assert_eq!([plan.on_program(true), plan.on_program(false)], [Verdict::Works; 2]);
    assert_eq!((plan.on_erase(), plan.has_power()), (Verdict::Cut(CutOutcome::Torn), false));
    assert_eq!(
        [plan.on_program(true), plan.on_program(false), plan.on_erase()],
        [Verdict::NoPower; 3]
    );
    assert_eq!(plan.on_read(|| false, 0), ReadVerdict::NoPower);
    plan.power_on();
    assert!(plan.has_power() && plan.is_quiet());
    assert_eq!(
        (plan.on_program(true), plan.on_read(|| false, 0)),
        (Verdict::Works, ReadVerdict::Works)
    );
}

#[test]
fn a_recovery_is_cut_once_and_a_planned_cut_can_be_taken_back() {
    let mut plan = plan(|_| ());
    plan.cut_recovery_after(1, CutOutcome::Undone);
    assert_eq!([plan.on_program(true), plan.on_program(true)], [Verdict::Works; 2]);
    plan.cut_now();
    assert_eq!(plan.on_program(true), Verdict::NoPower);
    plan.power_on();
    assert_eq!(plan.on_erase(), Verdict::Works);
    assert_eq!(plan.on_program(true), Verdict::Cut(CutOutcome::Undone));
    plan.power_on();
    assert_eq!([plan.on_program(true), plan.on_program(true)], [Verdict::Works; 2]);
    plan.cut_power_after(0, CutOutcome::Done);
    plan.cut_recovery_after(0, CutOutcome::Done);
    plan.forget_cut();
    assert_eq!(plan.on_program(true), Verdict::Works);
    plan.cut_now();
    plan.power_on();
    assert_eq!(plan.on_program(true), Verdict::Works);
}

#[test]
fn the_operation_that_was_named_fails_and_no_other() {
    let mut plan = plan(|_| ());
    plan.fail_program_after(1);
    plan.fail_erase_after(0);
    plan.fail_read_after(1);
    assert_eq!([plan.on_program(true), plan.on_erase()], [Verdict::Works, Verdict::Fails]);
    assert_eq!([plan.on_program(false), plan.on_program(true)], [Verdict::Works, Verdict::Fails]);
    assert_eq!([plan.on_program(true), plan.on_erase()], [Verdict::Works; 2]);
    let reads = [(); 3].map(|()| plan.on_read(|| false, 0));
    assert_eq!(reads, [ReadVerdict::Works, ReadVerdict::Uncorrectable, ReadVerdict::Works]);
    assert_eq!(plan.on_read(|| true, 0), ReadVerdict::Uncorrectable, "it failed before");
}

/// Draws are below every bound of a rate of one, and above every bound of none.
#[test]
fn rates_of_nothing_and_of_everything() {
    let mut plan = plan(|settings| {
        (settings.program_failure_rate, settings.read_retry_rate) = (1.0, 1.0);
        settings.read_retries = 3;
    });
    assert_eq!((plan.on_program(true), plan.on_erase()), (Verdict::Fails, Verdict::Works));
    let mut retries: Vec<ReadVerdict> = (0..100).map(|_| plan.on_read(|| false, 0)).collect();
    retries.sort_by_key(|verdict| format!("{verdict:?}"));
    retries.dedup();
    assert_eq!(retries, [1, 2, 3].map(ReadVerdict::Retried));
    let mut quiet = self::plan(|settings| settings.read_retries = 1);
    assert_eq!(quiet.on_read(|| false, u64::MAX), ReadVerdict::Retried(1), "it is worn");
    assert_eq!(quiet.on_read(|| false, 0), ReadVerdict::Works);
}

#[test]
fn a_die_fails_when_so_many_programs_were_counted() {
    let mut plan = plan(|_| ());
    plan.fail_die_after(3, 1);
    assert_eq!((plan.on_program(true), plan.failed_die()), (Verdict::Works, None));
    assert_eq!((plan.on_program(true), plan.failed_die()), (Verdict::Works, Some(3)));
    assert!(!plan.failure_is_known());
    assert!(plan.find_failure_out() && !plan.find_failure_out() && plan.failure_is_known());
}

#[test]
fn a_device_at_its_end_can_leave_undone_what_nobody_waits_for() {
    let full = Fault::DeviceFull { free_blocks: 1, candidates: 2, known: 7 };
    let worn = Fault::WornOut { retired_blocks: 3, known: 7 };
    assert_eq!([full, worn].map(|fault| fault.unless_worn_out::<u8>()), [Ok(None); 2]);
    let broken = Fault::ProgramFailed { block: BlockId(4), known: When::START };
    assert_eq!(broken.unless_worn_out::<u8>(), Err(broken));
    assert_eq!(Fault::PowerCut.unless_worn_out::<u8>(), Err(Fault::PowerCut));
    let goes_on = |fault: Fault| fault.goes_on_without(When::at(5));
    assert_eq!([goes_on(full), goes_on(worn)], [Ok(When::at(7)); 2]);
    assert_eq!(goes_on(broken), Err(broken));
}

#[test]
fn a_window_says_which_pages_it_takes_or_that_it_is_full() {
    let said = |from, until| {
        let why = Refusal::OutsideWindow(from, until);
        Fault::Refused { page: 9, zone: 2, why }.to_string()
    };
    assert!(said(16, 20).contains("takes pages from 16 to 19 now"));
    assert!(said(20, 20).contains("zone 2 is full"));
}

/// The next draw is below the limit, or it is the limit.
#[test]
fn a_draw_fails_that_is_below_its_limit() {
    let draw = |purpose| Rng::new(1, purpose).next_u64();
    for (more, expected) in [(0, Verdict::Works), (1, Verdict::Fails)] {
        let mut plan = plan(|settings| settings.erase_failure_rate = 1.0);
        plan.erase_limit = draw(Purpose::Fault) + more;
        assert_eq!(plan.on_erase(), expected);
    }
    let drawn = draw(Purpose::ReadFault);
    for (error, retry, expected) in [
        (drawn, drawn, ReadVerdict::Works),
        (drawn, drawn + 1, ReadVerdict::Retried(1)),
        (drawn + 1, drawn + 1, ReadVerdict::Uncorrectable),
    ] {
        let mut plan = plan(|settings| settings.read_retries = 1);
        (plan.reads.armed, plan.reads.error_limit, plan.reads.retry_limit) = (true, error, retry);
        assert_eq!(plan.on_read(|| false, 0), expected);
    }
}

/// Programs between them change nothing about which erases fail.
#[test]
fn what_cannot_fail_draws_nothing() {
    let erases = |programs| {
        let mut plan = plan(|settings| settings.erase_failure_rate = 0.5);
        [(); 64].map(|()| {
            (0..programs).for_each(|_| assert_eq!(plan.on_program(true), Verdict::Works));
            plan.on_erase() == Verdict::Fails
        })
    };
    assert_eq!(erases(3), erases(0));
    assert!(erases(0).contains(&true) && erases(0).contains(&false));
}

#[test]
fn nobody_asks_whether_a_page_is_lost_where_no_read_fails() {
    let mut plan = plan(|_| ());
    assert_eq!(plan.on_read(|| panic!("it was asked"), 0), ReadVerdict::Works);
}

#[test]
fn a_read_that_fails_for_good_was_retried_as_often_as_the_settings_say() {
    let plan = plan(|settings| settings.read_retries = 7);
    assert_eq!(plan.read_retries(), 7);
}

/// Two programs are counted from when measuring begins, and a die that failed fails once.
#[test]
fn a_die_that_is_to_fail_fails_so_many_programs_behind_the_beginning_of_measuring() {
    let mut plan = plan(|settings| {
        settings.failing_die = crate::settings::Optional(Some(5));
        settings.die_fails_after = 2;
    });
    assert_eq!((plan.on_program(true), plan.is_quiet()), (Verdict::Works, true));
    plan.count_until_die_fails();
    assert!(!plan.is_quiet());
    let failed = [(); 4].map(|()| {
        assert_eq!(plan.on_program(true), Verdict::Works);
        plan.failed_die()
    });
    assert_eq!(failed, [None, None, Some(5), Some(5)]);
    plan.count_until_die_fails();
    assert_eq!(plan.die_fails_in, None);
}
