//! What bad input gets: exit code 2 (or 1 where the run itself failed), and a message that names
//! file, line, value and what is legal.

use crate::common::Bench;

const DEVICE: &str = "--device dftl2014";
const WORK: &str = "--workload randwrite:bs=2k,span=1M,count=10";

#[test]
fn misspelt_names_get_the_nearest_legal_one() {
    let bench = Bench::new();
    for (line, words) in [
        (format!("run --scheme dtfl {DEVICE} {WORK}"), ["dtfl", "nearest: dftl"]),
        (format!("run --scheme dftl:batery {DEVICE} {WORK}"), ["dftl:batery", "nearest: battery"]),
        (format!("run --scheme dftl --device dftl2041 {WORK}"), ["dftl2041", "'dftl2014'"]),
        (format!("run --scheme dftl {DEVICE} {WORK} --format scp"), ["scp", "'spc'"]),
        (
            format!("run --scheme dftl {DEVICE} {WORK} --set gc.victim=greedyy"),
            ["greedyy", "greedy | cost_benefit"],
        ),
        (
            format!("run --scheme dftl {DEVICE} {WORK} --set gc.vctim=fifo"),
            ["gc.vctim", "gc.victim"],
        ),
        (
            format!("run --scheme dftl {DEVICE} {WORK} --set dftl.cmt_entires=9"),
            ["dftl.cmt_entires", "dftl.cmt_entries"],
        ),
        (format!("run --scheme dftl {DEVICE} --workload oltp_dem"), ["oltp_dem", "'oltp_demo'"]),
        (
            format!("run --scheme dftl {DEVICE} --workload randwrte:bs=2k"),
            ["randwrte", "'randwrite'"],
        ),
        (format!("run --scheme dftl {DEVICE} --workload randwrite:bbs=2k"), ["bbs", "'bs'"]),
        (format!("run --scheme dftl {DEVICE} {WORK} --address dens"), ["dens", "'dense'"]),
        (format!("run --scheme dftl {DEVICE} {WORK} --time-unit nss"), ["nss", "'ns'"]),
        (format!("compare --schemes family:pge {DEVICE} {WORK} --out o"), ["pge", "'page'"]),
        ("list scheme".to_owned(), ["scheme", "schemes"]),
        (format!("run --scheme dftl {DEVICE} {WORK} --buffer bplur"), ["bplur", "'bplru'"]),
    ] {
        bench.ftlab(&line).refused(2, &words);
    }
    assert!(bench.entries().is_empty(), "{:?}", bench.entries());
}

#[test]
fn what_belongs_to_later_versions_is_unknown_rather_than_a_stub() {
    let bench = Bench::new();
    for line in ["sweep x.toml", "serve", "calibrate"] {
        bench.ftlab(line).refused(2, &["error:"]);
    }
}

#[test]
fn illegal_values_name_what_is_legal() {
    let bench = Bench::new();
    for (option, words) in [
        ("--capacity 0", ["--capacity '0'", "above 0"]),
        ("--until steady", ["steady", "worn-out"]),
        ("--capacity -5", ["-5", "legal"]),
        ("--capacity 4XB", ["4XB", "GiB"]),
        ("--capacity 100TiB", ["too large", "at most"]),
        ("--timing later", ["later", "closed:DEPTH"]),
        ("--timing trace", ["closed loop", "rate_iops"]),
        ("--precondition prefix:0", ["prefix:0", "random:Nx"]),
        ("--precondition dfl=fill", ["dfl", "nearest: dftl"]),
        ("--ram 0", ["--ram '0'", "above 0"]),
        ("--ram like:dfl", ["dfl", "nearest: dftl"]),
        ("--ram like:dftl.cnt", ["cnt", "'cmt'"]),
        ("--ram 1k --set device.ram_bytes=2k", ["--ram", "exclude"]),
        ("--ram 1k --set dftl.cmt_entries=8192", ["dftl.cmt_entries", "allows 1024"]),
        ("--ram-strict", ["--ram-strict", "--ram BYTES"]),
        ("--set gc.victim", ["gc.victim", "KEY=VALUE"]),
        ("--set timing.read=25", ["timing.read", "unit"]),
        ("--set device.pages_per_block=1", ["pages_per_block", "2..=4096"]),
        ("--set fast.log_blocks=2", ["fast", "no"]),
        ("--head 0", ["--head 0", "1 or more"]),
        ("--reorder-window 5", ["--reorder-window", "ms"]),
        ("--unit x", ["x", "all"]),
        ("--set device.over_provisioning=0.0001", ["needs at least", "over_provisioning"]),
        ("--seed -1", ["--seed", "-1"]),
    ] {
        let line = format!("run --scheme dftl {DEVICE} {WORK} {option}");
        bench.ftlab(&line).refused(2, &words);
    }
    assert!(bench.entries().is_empty());
}

#[test]
fn broken_traces_are_refused_with_file_and_line() {
    let bench = Bench::new();
    let spc = |rest: &str| format!("0,8,4096,w,0.1\n{rest}\n0,8,4096,w,0.3\n");
    bench.file("negative.spc", spc("0,-8,4096,w,0.2"));
    bench.file("zero.spc", spc("0,8,0,w,0.2"));
    bench.file("large.spc", spc("0,99999999999999999999,4096,w,0.2"));
    bench.file("words.spc", spc("zero,8,4096,w,0.2"));
    bench.file("nul.spc", spc("0,8,40\0 96,w,0.2"));
    bench.file("far.spc", spc("0,99999999,4096,w,0.2"));
    bench.file("back.spc", "0,8,4096,w,9.0\n0,8,4096,w,2.0\n0,8,4096,w,9.1\n");
    bench.file("empty.spc", "");
    bench.file("blank.spc", "\n\n# nothing\n");
    bench.ftlab("trace convert randwrite:span=64M,count=5000 whole.csv.gz").ok();
    let whole = std::fs::read(bench.path("whole.csv.gz")).unwrap();
    bench.file("cut.gz", &whole[..whole.len() / 2]);
    std::fs::create_dir(bench.path("folder")).unwrap();
    for (file, words) in [
        ("negative.spc", ["negative.spc:2: ", "-8"]),
        ("zero.spc", ["zero.spc:2: ", "0"]),
        ("large.spc", ["large.spc:2: ", "99999999999999999999"]),
        ("words.spc", ["words.spc:2: ", "zero"]),
        ("nul.spc", ["nul.spc:2: ", "NUL"]),
        ("far.spc", ["far.spc:2: ", "--capacity auto"]),
        ("back.spc", ["back.spc:2: ", "--reorder-window"]),
        ("empty.spc", ["empty.spc", "holds no request"]),
        ("blank.spc", ["blank.spc", "holds no request"]),
        ("cut.gz", ["cut.gz", "truncated or corrupt"]),
        ("folder", ["folder", "legal"]),
        ("missing.spc", ["missing.spc", "legal"]),
    ] {
        let line = format!("run --scheme dftl {DEVICE} --workload {file} --json run.json");
        bench.ftlab(&line).refused(2, &words);
        let line = format!("compare --schemes all {DEVICE} --workload {file} --out out");
        bench.ftlab(&line).refused(2, &words);
        assert!(!bench.path("run.json").exists() && !bench.path("out").exists(), "{file}");
    }
    assert!(bench.entries().iter().all(|name| !name.starts_with('.')), "{:?}", bench.entries());
}

/// It took the program down: no address space holds the state of so many pages.
#[test]
fn an_address_far_beyond_memory_is_refused_with_its_line() {
    let bench = Bench::new();
    let line = |file: &str| {
        format!(
            "run --scheme ideal_page {DEVICE} --workload {file} --capacity auto --json run.json"
        )
    };
    // In sectors of 512 bytes: 1 EiB, more than 32 bits of pages; 8 EiB, nearly all that 64 bits of
    // bytes can tell.
    for (file, sector) in [("pages.spc", 1u64 << 51), ("bytes.spc", (1 << 54) - 16)] {
        bench.file(file, format!("0,8,4096,w,0.1\n0,{sector},4096,w,0.2\n0,8,4096,w,0.3\n"));
        let place = format!("{file}:2: the request ends at byte {}", sector * 512 + 4096);
        let words = [place.as_str(), "too large", "legal: --address dense"];
        bench.ftlab(&line(file)).refused(2, &words);
        let line = format!("{} --address dense", line(file));
        assert_eq!(bench.ftlab(&line).code, 0, "what is legal works");
        std::fs::remove_file(bench.path("run.json")).unwrap();
    }
    // A device that 32 bits of pages can number, and 2 GiB of memory cannot hold.
    #[cfg(unix)]
    {
        let sector = 1u64 << 30;
        bench.file("far.spc", format!("0,8,4096,w,0.1\n0,{sector},4096,w,0.2\n"));
        let place = format!("far.spc:2: the request ends at byte {}", sector * 512 + 4096);
        let words = [place.as_str(), "no memory for the state of a device of 5497559"];
        bench.ftlab_within(2 << 20, &line("far.spc")).refused(2, &words);
        let stated = line("far.spc").replace("auto", "1TiB");
        bench.ftlab_within(2 << 20, &stated).refused(2, &["no memory for the state", "legal"]);
    }
}

#[test]
fn broken_device_files_are_refused_with_file_and_line() {
    let bench = Bench::new();
    bench.file("key.toml", "[device]\nblocks_per_plane = 100\npages_per_blok = 3\n");
    bench.file("group.toml", "[devise]\ndies = 1\n");
    bench.file("value.toml", "[timing]\n\nread = \"fast\"\n");
    bench.file("syntax.toml", "[device\n");
    bench.file("conflict.toml", "[device]\npage_bytes = 1000\n");
    for (file, words) in [
        ("key.toml", ["key.toml:3: ", "device.pages_per_block"]),
        ("group.toml", ["group.toml:2: ", "device.dies"]),
        ("value.toml", ["value.toml:3: ", "130.9us"]),
        ("syntax.toml", ["syntax.toml:1: ", "ftlab"]),
        ("conflict.toml", ["conflict.toml", "multiple of 512"]),
    ] {
        bench.ftlab(&format!("run --scheme dftl --device {file} {WORK}")).refused(2, &words);
    }
}

#[test]
fn nothing_is_overwritten() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("out")).unwrap();
    bench.file("out/mine.txt", "keep");
    bench.file("run.json", "keep");
    let compare = format!("compare --schemes all {DEVICE} {WORK} --out");
    bench.ftlab(&format!("{compare} out")).refused(2, &["out", "not empty"]);
    bench.ftlab(&format!("{compare} run.json")).refused(2, &["run.json", "not a folder"]);
    bench
        .ftlab(&format!("run --scheme dftl {DEVICE} {WORK} --json run.json"))
        .refused(2, &["run.json", "exists"]);
    assert_eq!(std::fs::read_to_string(bench.path("run.json")).unwrap(), "keep");
    assert_eq!(bench.entries(), ["out", "run.json"]);
}

#[test]
fn a_device_that_wears_out_fails_the_run_and_no_result_is_written() {
    let bench = Bench::new();
    let line = format!(
        "{DEVICE} --capacity 1MiB --set nand.erase_failure_rate=0.5 \
         --workload randwrite:bs=2k,span=100%,count=50x"
    );
    bench
        .ftlab(&format!("run --scheme ideal_page {line} --json run.json"))
        .refused(1, &["ideal_page: device worn out"]);
    bench
        .ftlab(&format!("compare --schemes all {line} --out out"))
        .refused(1, &["ideal_page: device worn out", "dftl: device worn out"]);
    assert!(bench.entries().is_empty(), "{:?}", bench.entries());
}
