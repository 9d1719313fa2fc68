//! Large arrays on huge pages. Maps and page states are looked at in no order, and with small pages
//! every look would also wait for where its page lies.

/// What arrays ask for, bytes. Smaller ones are not looked at all over; larger ones belong to a
/// device of which a run mostly touches a part, and a huge page is there as a whole.
const ASKING: std::ops::RangeInclusive<usize> = 1 << 20..=1 << 28;

/// Asks the system to put an array on huge pages as it is touched. It need not, and nothing but
/// time depends on it.
#[cfg(target_os = "linux")]
pub(crate) fn ask_for<T>(array: &mut [T]) {
    // Those of other sizes refuse what does not begin at a page of theirs.
    const PAGE: usize = 4096;
    let bytes = size_of_val(array);
    if !ASKING.contains(&bytes) {
        return;
    }
    let begin = array.as_mut_ptr() as usize;
    let first = begin.next_multiple_of(PAGE);
    let last = (begin + bytes) / PAGE * PAGE;
    #[allow(unsafe_code, reason = "the standard library has no way to advise")]
    // SAFETY: the span lies within the array, which is borrowed for writing; the advice changes
    // neither what is in it nor who may touch it.
    let _ = unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
}

/// There is nobody to ask.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ask_for<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_as_it_was() {
        for count in [0, 1, 1 << 17, 1 << 18, 3_000_001] {
            let mut array: Vec<u64> = (0..count).collect();
            ask_for(&mut array);
            assert!(array.iter().copied().eq(0..count));
        }
    }
}
