//! What texts mean as values, how values are shown, and what is said of legal ones.

use super::*;

#[test]
fn a_share_above_all_says_whether_it_is_percent_or_times() {
    for (text, share) in
        [("0.07", 0.07), ("7%", 0.07), ("1", 1.0), ("700%", 7.0), ("7x", 7.0), ("0.5x", 0.5)]
    {
        let read = Share::parse(text).unwrap();
        assert!((read.0 - share).abs() < 1e-12, "{text}: {read:?}");
        let shown = match read.show() {
            Shown::Text(text) => text,
            Shown::Real(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(Share::parse(&shown), Some(read), "{text} is shown as {shown}");
    }
    for text in ["7", "1.5", "7%x", "x", "", "inf"] {
        assert_eq!(Share::parse(text), None, "{text}");
    }
}

#[test]
fn an_amount_is_a_number_or_a_share_of_all() {
    assert_eq!(Amount::parse("64"), Some(Amount::Count(64)));
    assert_eq!(Amount::parse("12.5%"), Some(Amount::Percent(12.5)));
    assert_eq!(Amount::Percent(12.5).show(), Shown::Text("12.5%".to_owned()));
    for text in ["0%", "101%", "-1%", "0.5", "9%%", "%", "-1", ""] {
        assert_eq!(Amount::parse(text), None, "{text}");
    }
    for (amount, all, found) in [("3", 1, 3), ("50%", 9, 5), ("100%", 9, 9), ("1%", 0, 1)] {
        assert_eq!(Amount::parse(amount).unwrap().of(all), found, "{amount} of {all}");
    }
}

#[test]
fn units_in_the_value_decide_its_size() {
    assert_eq!(Duration::parse("130.9us"), Some(Duration(130_900)));
    assert_eq!(Duration::parse("1.5ms"), Some(Duration(1_500_000)));
    assert_eq!(Duration::parse("12"), None, "a bare number has no unit");
    let types = Durations(vec![Duration(50_000), Duration(110_000)]);
    assert_eq!(Durations::parse("50us, 110us"), Some(types.clone()));
    assert_eq!(types.show(), Shown::Text("50us,110us".to_string()));
    assert_eq!(Durations::parse("50us,110"), None, "the second has no unit");
    assert_eq!(Bytes::parse("2KiB"), Some(Bytes(2048)));
    assert_eq!(Bytes::parse("1.5k"), Some(Bytes(1536)));
    assert_eq!(Bytes::parse("-1"), None);
    assert_eq!(Energy::parse("4.72uJ"), Some(Energy(4_720_000)));
    assert_eq!(f64::parse("3%"), Some(0.03));
}

/// All of what is legal is said with an example, or in full.
#[test]
fn what_is_legal_is_said_in_words() {
    let said = [
        (u8::legal(), "a whole number up to 255"),
        (f64::legal(), "a percentage such as 3%"),
        (Share::legal(), "times such as 7x"),
        (Amount::legal(), "a share above 0% and up to 100%"),
        (bool::legal(), "true | false"),
        (String::legal(), "any text"),
        (Duration::legal(), "ns, us, ms or s"),
        (Durations::legal(), "up to 16 durations with commas"),
        (Bytes::legal(), "KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000)"),
        (Energy::legal(), "pJ, nJ, uJ or mJ"),
        (<Optional<bool>>::legal(), "auto, or true | false"),
    ];
    for (legal, words) in said {
        assert!(legal.contains(words), "{legal}");
    }
}

#[test]
fn a_whole_number_may_have_underscores_and_fits_its_type() {
    assert_eq!(u32::parse("4_294_967_295"), Some(u32::MAX));
    assert_eq!(u32::parse("4294967296"), None);
    assert_eq!(u8::parse("-1"), None);
    assert_eq!(7u8.show(), Shown::Integer(7));
}

#[test]
fn a_fraction_is_finite() {
    assert_eq!([f64::parse("0.5"), f64::parse("50 %")], [Some(0.5); 2]);
    assert_eq!([f64::parse("inf"), f64::parse("nan%"), f64::parse("x")], [None; 3]);
    assert_eq!(0.5.show(), Shown::Real(0.5));
}

#[test]
fn yes_and_no_have_three_words_each() {
    assert_eq!(["true", "on", "yes"].map(bool::parse), [Some(true); 3]);
    assert_eq!(["false", "off", "no"].map(bool::parse), [Some(false); 3]);
    assert_eq!(["1", "", "True"].map(bool::parse), [None; 3]);
    assert_eq!(true.show(), Shown::Bool(true));
}

#[test]
fn a_text_is_itself() {
    assert_eq!(String::parse("a part"), Some("a part".to_owned()));
    assert_eq!("a part".to_owned().show(), Shown::Text("a part".to_owned()));
}

#[test]
fn a_count_is_shown_as_a_number() {
    assert_eq!(Amount::Count(64).show(), Shown::Integer(64));
    assert_eq!(Amount::parse("100%"), Some(Amount::Percent(100.0)));
    assert_eq!([Amount::Count(64).of(9), Amount::Percent(30.0).of(20)], [64, 6]);
}

#[test]
fn a_duration_has_one_of_four_units_and_nothing_needs_none() {
    let nanos = |text| Duration::parse(text).map(|read| read.0);
    let texts = ["7ns", "1_000.5us", "2.5 µs", "3ms", "4s", "0"];
    let read = [7, 1_000_500, 2_500, 3_000_000, 4_000_000_000, 0].map(Some);
    assert_eq!(texts.map(nanos), read);
    assert_eq!(["7m", "7 us ago", "us", "-1us", ""].map(nanos), [None; 5]);
}

/// 10^18 ns are thirty years; two of them are still less than what a clock can hold.
#[test]
fn a_duration_is_shorter_than_30_years() {
    assert_eq!(Duration::parse("999999999s"), Some(Duration(999_999_999_000_000_000)));
    assert_eq!(Duration::parse("1000000000s"), None);
}

#[test]
fn a_duration_is_shown_in_whole_seconds_or_else_in_microseconds() {
    let shown = |nanos| Duration(nanos).show();
    let text = |text: &str| Shown::Text(text.to_owned());
    assert_eq!([shown(0), shown(2_000_000_000)], [text("0us"), text("2s")]);
    assert_eq!([shown(130_900), shown(1_500_000_000)], [text("130.9us"), text("1500000us")]);
}

#[test]
fn sixteen_page_types_have_durations_of_their_own() {
    let many = |count| Durations::parse(&vec!["1us"; count].join(","));
    assert_eq!(many(16), Some(Durations(vec![Duration(1_000); 16])));
    assert_eq!(many(17), None);
    assert_eq!(Durations::parse("auto"), Some(Durations::default()));
    assert_eq!(Durations::default().show(), Shown::Text("auto".to_owned()));
}

#[test]
fn a_size_is_of_powers_of_1024_or_of_1000() {
    let bytes = |text| Bytes::parse(text).map(|read| read.0);
    assert_eq!(["4096", "4096b", "3k", "3KiB"].map(bytes), [4096, 4096, 3072, 3072].map(Some));
    assert_eq!(["3m", "3MiB"].map(bytes), [Some(3 << 20); 2]);
    assert_eq!(["3G", "3GiB"].map(bytes), [Some(3 << 30); 2]);
    assert_eq!(["3t", "3TiB"].map(bytes), [Some(3 << 40); 2]);
    let decimal = [3_000, 3_000_000, 3_000_000_000, 3_000_000_000_000].map(Some);
    assert_eq!(["3KB", "3MB", "3GB", "3TB"].map(bytes), decimal);
    assert_eq!(["3kk", "k", "0.5", "1.0001k"].map(bytes), [None; 4]);
    assert_eq!(Bytes(2048).show(), Shown::Integer(2048));
}

#[test]
fn a_size_is_less_than_9_times_10_to_the_18th() {
    assert_eq!(Bytes::parse("8999999TB"), Some(Bytes(8_999_999_000_000_000_000)));
    assert_eq!(Bytes::parse("9000000TB"), None);
}

#[test]
fn an_energy_has_one_of_four_units_and_nothing_needs_none() {
    let picojoules = |text| Energy::parse(text).map(|read| read.0);
    let read = [7, 1_500, 2_500_000, 2_500_000, 3_000_000_000, 0].map(Some);
    assert_eq!(["7pJ", "1.5nJ", "2.5uJ", "2.5 µJ", "3mJ", "0"].map(picojoules), read);
    assert_eq!(["7J", "7", "uJ"].map(picojoules), [None; 3]);
    assert_eq!(Energy(4_720_000).show(), Shown::Text("4.72uJ".to_owned()));
}

#[test]
fn what_is_left_to_its_owner_is_auto() {
    assert_eq!(<Optional<u32>>::parse("auto"), Some(Optional(None)));
    assert_eq!(<Optional<u32>>::parse("7"), Some(Optional(Some(7))));
    assert_eq!(<Optional<u32>>::parse("x"), None);
    assert_eq!(Optional::<u32>(None).show(), Shown::Text("auto".to_owned()));
    assert_eq!(Optional(Some(7u32)).show(), Shown::Integer(7));
}
