//! A scheme and what is in front of it: what it sees of the settings, whether they go together, and
//! the memory that both take.

use ftlab_flash::board::settings::ClockKind;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::page_space::settings::GcMode;
use ftlab_ftl::parts::placement::PlacementKind;
use ftlab_ftl::scheme::{Family, Scheme, SchemeConfig};

use crate::buffer::BufferKind;
use crate::host::SchedulerKind;
use crate::settings::SsdSettings;

/// What a scheme sees of a device's settings, beside its own.
pub fn seen<S: Scheme>(config: &SsdSettings, own: S::Settings) -> SchemeConfig<S::Settings> {
    SchemeConfig { shared: config.seen_by_schemes(), own }
}

/// What settings may not go together with, of a scheme as it is set.
struct Traits {
    name: &'static str,
    family: Family,
    buffers_data: bool,
    maps_in_host: bool,
    divides_data: bool,
    reads_content: bool,
    works_in_gaps: bool,
}

/// Legality of the settings for a scheme, with whatever is in front of it.
///
/// # Errors
/// Says which settings exclude each other, and what is legal.
pub fn check<S: Scheme>(
    config: &SsdSettings,
    seen: &SchemeConfig<S::Settings>,
) -> Result<(), SettingError> {
    let scheme = Traits {
        name: S::PAPER.name,
        family: S::PAPER.family,
        buffers_data: S::BUFFERS_DATA,
        maps_in_host: S::MAPS_IN_HOST,
        divides_data: S::DIVIDES_DATA,
        reads_content: S::READS_CONTENT,
        works_in_gaps: S::works_in_gaps(seen),
    };
    check_shared(config, &scheme)?;
    if config.timing.clock == ClockKind::Event {
        check_event_clock(config, &scheme, &S::ram_use(seen))?;
    }
    S::check(seen)
}

/// Legality of the settings that all schemes share.
fn check_shared(config: &SsdSettings, scheme: &Traits) -> Result<(), SettingError> {
    let buffer = config.buffer.name;
    if scheme.buffers_data && buffer != BufferKind::None {
        let name = scheme.name;
        return Err(SettingError::Conflict(format!(
            "{name} keeps the host's data in its own memory, so a buffer in front of it would hold \
             the same pages twice: buffer.name = {} (--buffer) must be none",
            buffer.name()
        )));
    }
    if scheme.maps_in_host && buffer != BufferKind::None {
        let name = scheme.name;
        return Err(SettingError::Conflict(format!(
            "{name} has the host say where pages go as it writes them, so a buffer in the drive cannot \
             put them off: buffer.name = {} (--buffer) must be none",
            buffer.name()
        )));
    }
    if config.device.units_per_page() > 1 && scheme.family.programs_at_fixed_offsets() {
        return Err(SettingError::Conflict(format!(
            "{} puts pages at fixed offsets of data blocks, so mapping units cannot gather to \
             flash pages: leave device.mapping_unit at auto",
            scheme.name
        )));
    }
    if !scheme.divides_data {
        config.check_no_slc(scheme.name)?;
        config.check_no_placement(scheme.name)?;
        config.check_no_garbage_share(scheme.name)?;
        config.check_no_lines(scheme.name)?;
        config.check_no_refresh(scheme.name)?;
    }
    let takes_all = [PlacementKind::None, PlacementKind::SepGc, PlacementKind::Hint];
    if scheme.reads_content && !takes_all.contains(&config.gc.placement) {
        return Err(SettingError::Conflict(format!(
            "gc.placement = {} goes by when pages are written, and does not hear of writes that {} \
             leaves out because their content is there; legal: none, sep_gc, and hint where the scheme \
             takes it",
            config.gc.placement.name(),
            scheme.name
        )));
    }
    if scheme.buffers_data && config.gc.placement == PlacementKind::Hint {
        return Err(SettingError::Conflict(format!(
            "gc.placement = hint and {}, which keeps the host's data in its own memory, exclude each \
             other: pages leave a buffer without the hint that they came with; legal: one of the two",
            scheme.name
        )));
    }
    Ok(())
}

/// Whoever needs a moment at once does not go with a clock that knows none before it comes.
fn check_event_clock(
    config: &SsdSettings,
    scheme: &Traits,
    structures: &[RamUse],
) -> Result<(), SettingError> {
    let name = scheme.name;
    let beside = |memory| structures.iter().any(|one| one.memory == memory && one.bytes > 0);
    let buffers = config.buffer.name != BufferKind::None;
    let gaps = "works in gaps between requests, and how long a gap is follows from times";
    let excluded = [
        (
            config.gc.mode != GcMode::Foreground,
            format!("gc.mode = {} {gaps}", config.gc.mode.name()),
        ),
        (scheme.works_in_gaps, format!("{name} as it is set {gaps}")),
        (buffers && config.buffer.idle_flush, format!("buffer.idle_flush = true {gaps}")),
        (config.rain.stripe > 0, format!("rain.stripe = {} {gaps}", config.rain.stripe)),
        (
            config.refresh.is_on(),
            "refresh (refresh.reads, refresh.days) moves data by its age in moments".to_owned(),
        ),
        (
            config.host.scheduler != SchedulerKind::Fcfs,
            format!(
                "host.scheduler = {} chooses by what is idle at a moment",
                config.host.scheduler.name()
            ),
        ),
        (
            config.host.streams > 1,
            format!(
                "host.streams = {} take turns by the moments of completions",
                config.host.streams
            ),
        ),
        (
            scheme.maps_in_host,
            format!("{name} has the host copy pages over a link whose times are booked ahead"),
        ),
        (
            config.timing.copyback && config.timing.multi_plane_program,
            "timing.copyback is one command of a plane there, which timing.multi_plane_program could not join"
                .to_owned(),
        ),
        (
            beside(Memory::Pcm),
            format!("{name} keeps tables in phase-change memory, whose port is booked ahead"),
        ),
        (
            beside(Memory::Host),
            format!("{name} asks the host's memory, whose answers are timed at once"),
        ),
    ];
    match excluded.into_iter().find(|(excludes, _)| *excludes) {
        Some((_, why)) => Err(SettingError::Conflict(format!(
            "timing.clock = event knows no moment before simulated time reaches it, and {why}; legal: \
             timing.clock = call_order, or leave the other out"
        ))),
        None => Ok(()),
    }
}

/// Bytes by structure of a scheme and of the buffer in front of it.
pub fn ram_use<S: Scheme>(config: &SsdSettings, seen: &SchemeConfig<S::Settings>) -> Vec<RamUse> {
    let mut structures = S::ram_use(seen);
    structures.extend(config.buffer.ram_use());
    structures
}

#[cfg(test)]
mod tests;
