use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::meter::Event;
use ftlab_engine::schemes::{TABLE, find};

use super::*;
use crate::observer::Silent;
use crate::unfinished::Unfinished;

fn hat() -> Box<dyn Device> {
    let mut config = Config::default();
    for (key, value) in [
        ("device.logical_bytes", "1MiB"),
        ("device.over_provisioning", "0.5"),
        ("hat.qmt_entries", "16"),
    ] {
        config.set(key, value).unwrap();
    }
    (find("hat").unwrap().0.open)(&config, 1).unwrap()
}

/// Entries of phase-change memory that a recovery from now on would find wrong, and corrects: those
/// that only the small table in SRAM knew.
fn corrected(device: &mut dyn Device) -> u64 {
    let before = device.board().meter().events(Event::PcmWrites);
    device.power_cycle().unwrap();
    device.board().meter().events(Event::PcmWrites) - before
}

/// Every page is written, then 16 again whose entries stay in SRAM: with its phase-change memory a
/// loaded device's recovery corrects these 16 and nothing else, as it does where the power went.
#[test]
fn phase_change_memory_is_put_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hat.snapshot");
    let mut device = hat();
    let config = Config { ssd: device.config().clone(), ..Config::default() };
    let chosen =
        Chosen { name: "hat".to_owned(), by_name: true, row: find("hat").unwrap().0, config };
    let pages = device.board().geometry().logical_pages;
    let sectors = device.board().geometry().sectors_per_page();
    for page in (0..u64::from(pages)).chain(0..16) {
        let arrival = device.idle_from();
        let first_sector = page * u64::from(sectors);
        let write = Request {
            arrival,
            op: Op::Write,
            first_sector,
            sectors,
            unit: 0,
            stream: None,
            content: None,
        };
        device.submit(&write).unwrap();
    }
    save(
        ResultFile::claim(&path, &Unfinished::default()).unwrap(),
        device.as_mut(),
        (&chosen, 1),
        &Silent,
    )
    .unwrap();
    let (saved, versions) = (device.pcm().to_vec(), live(device.as_ref(), || Ok(())).unwrap());
    assert_eq!(corrected(device.as_mut()), 16);
    assert_ne!(device.pcm(), saved, "what recovery corrected");

    let snapshot = Snapshot::open(&path, &Silent).unwrap();
    let mut loaded = hat();
    snapshot.load(loaded.as_mut(), &Steps::requests(&Silent, "", None)).unwrap();
    assert_eq!(loaded.board().meter().events(Event::PcmWrites), 16);
    assert_eq!((loaded.pcm(), live(loaded.as_ref(), || Ok(())).unwrap()), (device.pcm(), versions));
    assert!(
        snapshot.title().contains("flash and memory that outlives the power"),
        "{}",
        snapshot.title()
    );

    let mut other = hat();
    let mut words = Vec::new();
    flash_image::write_pcm(&mut words, &saved).unwrap();
    flash_image::read_pcm(words.as_slice(), other.pcm_mut()).unwrap();
    assert_eq!(other.pcm(), saved);
    let why = flash_image::read_pcm(&words[..words.len() - 4], other.pcm_mut()).unwrap_err();
    assert!(why.contains("ends too early"), "{why}");
    words.push(0);
    let why = flash_image::read_pcm(words.as_slice(), other.pcm_mut()).unwrap_err();
    assert!(why.contains("follows its last word"), "{why}");
    let why = flash_image::read_pcm(words.as_slice(), &mut []).unwrap_err();
    assert!(why.contains("the scheme has 0"), "{why}");
}

/// A small device of a scheme, and a host that wrote round and round and trimmed a little.
fn in_use(row: &'static Row) -> (Box<dyn Device>, Chosen) {
    let mut config = Config::default();
    let mut set = |key: &str, value: &str| config.set(key, value).unwrap();
    set("device.pages_per_block", "4");
    set("device.page_bytes", "512");
    set("device.over_provisioning", "0.3");
    if row.buffers_data {
        set("device.ram_bytes", "6KiB");
    }
    config.device.set_capacity(24 * 4 * 512, 0);
    let minimum = (row.minimum_blocks)(&config);
    config.device.set_capacity(24 * 4 * 512, minimum);
    let chosen = Chosen { name: row.paper.name.to_owned(), by_name: true, row, config };
    let mut device = (row.open)(&chosen.config, 1).unwrap();
    for turn in 0..400u64 {
        let op = if turn % 17 == 16 { Op::Trim } else { Op::Write };
        let (first_sector, sectors) = (turn * 29 % 90, 1 + (turn % 5) as u32);
        let arrival = device.idle_from();
        let (unit, stream, content) = (0, None, None);
        let request = Request { arrival, op, first_sector, sectors, unit, stream, content };
        device.submit(&request).unwrap_or_else(|error| panic!("{}: {error}", chosen.name));
    }
    (device, chosen)
}

/// The power goes at every operation of the flush before a snapshot is saved: no file is left, and
/// what the device recovers to can be saved then. It goes at every operation of the recovery that a
/// loaded snapshot begins with: recovered once more, the device has every page of the snapshot.
#[test]
fn cuts_while_a_snapshot_is_saved_or_loaded_lose_nothing() {
    let (mut saving, mut loading) = (0, 0);
    for row in TABLE {
        let (device, chosen) = in_use(row);
        let folder = tempfile::tempdir().unwrap();
        let save_to = |path: &Path, device: &mut dyn Device| {
            let file = ResultFile::claim(path, &Unfinished::default()).unwrap();
            save(file, device, (&chosen, 1), &Silent)
        };
        let path = (0u64..).find_map(|cut| {
            let path = folder.path().join(format!("{cut}"));
            let mut one = device.duplicate();
            let outcome = CutOutcome::ALL[(cut % 3) as usize];
            one.board_mut().nand_mut().faults_mut().cut_power_after(cut, outcome);
            let Err(error) = save_to(&path, one.as_mut()) else { return Some(path) };
            assert!(error.to_string().contains("power cut"), "{}: {error}", chosen.name);
            assert!(!path.exists(), "{}: half a snapshot", chosen.name);
            one.power_cycle().unwrap_or_else(|error| panic!("{}: {error}", chosen.name));
            one.audit().unwrap_or_else(|error| panic!("{}: {error}", chosen.name));
            save_to(&path, one.as_mut()).unwrap();
            saving += 1;
            None
        });
        let snapshot = Snapshot::open(&path.unwrap(), &Silent).unwrap();
        for cut in 0.. {
            let mut one = (row.open)(&chosen.config, 1).unwrap();
            let outcome = CutOutcome::ALL[(cut % 3) as usize];
            one.board_mut().nand_mut().faults_mut().cut_recovery_after(cut, outcome);
            let loaded = snapshot.load(one.as_mut(), &Steps::requests(&Silent, "", None));
            let Err(error) = loaded else { break };
            assert!(error.to_string().contains("power cut"), "{}: {error}", chosen.name);
            one.power_cycle().unwrap_or_else(|error| panic!("{}: {error}", chosen.name));
            // What was put back nobody programmed.
            one.start_measuring();
            one.audit().unwrap_or_else(|error| panic!("{}: {error}", chosen.name));
            let found = live(one.as_ref(), || Ok(())).unwrap();
            assert_eq!(Some(&Value::from(found)), snapshot.header.get("live"), "{}", chosen.name);
            loading += 1;
        }
    }
    assert!(saving > 0 && loading > 0, "{saving} cuts before saving, {loading} behind loading");
}
