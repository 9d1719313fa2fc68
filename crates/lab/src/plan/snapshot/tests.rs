use ftlab_engine::meter::Event;
use ftlab_engine::schemes::find;

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
