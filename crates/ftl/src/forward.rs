//! Methods of a scheme that are those of the part it stands on.
//!
//! A base trait with these as defaults would hide which ones a scheme has taken over, and would
//! need every method twice.

/// Stands in an `impl Scheme` for the methods that the scheme leaves to what it stands on, such as
/// `BlockMapped` or `DemandMapped`: `forward!(base: flush, locate);` gives the field and the
/// methods.
///
/// `payload_pages`, `read` and `trim` are those of `BlockMapped`. Schemes with their map on flash
/// translate first: `forward!(base after translate: read, write, trim);` gives the method that
/// makes sure that the entry of a page is cached, and says when it is known. What such a scheme
/// needs is a function of its settings: `forward!(Needs::plain => minimum_blocks, payload_pages);`.
/// Pages in memory above flash answer with it: `forward!(data over base: locate, unsettled);`.
#[macro_export]
macro_rules! forward {
    ($($base:ident).+: $($method:ident),+) => {
        $crate::forward!(@each ($($base).+) $($method)+);
    };
    ($base:ident after $translate:ident: $($method:ident),+) => {
        $( $crate::forward!(@translated $base $translate $method); )+
    };
    ($above:ident over $base:ident: $($method:ident),+) => {
        $( $crate::forward!(@over $above $base $method); )+
    };
    ($needs:path => $($method:ident),+) => {
        $( $crate::forward!(@needed $needs, $method); )+
    };
    (@each $base:tt $($method:ident)+) => {
        $( $crate::forward!(@$method $base); )+
    };
    (@needed $needs:path, $method:ident) => {
        fn $method(config: &$crate::scheme::SchemeConfig<Self::Settings>) -> u64 {
            $needs(config).$method(config)
        }
    };
    (@over $above:ident $base:ident locate) => {
        fn locate(
            &self,
            board: &$crate::flash::board::Board,
            lpn: $crate::flash::units::Lpn,
        ) -> $crate::answers::Location {
            self.$above.locate(&self.$base, board, lpn)
        }
    };
    (@over $above:ident $base:ident unsettled) => {
        fn unsettled(&self, board: &$crate::flash::board::Board) -> $crate::answers::Unsettled {
            self.$above.unsettled(&self.$base, board)
        }
    };
    (@translated $base:ident $translate:ident read) => {
        #[inline]
        fn read(
            &mut self,
            board: &mut $crate::flash::board::Board,
            io: &$crate::flash::request::PageIo,
            after: $crate::flash::board::when::When,
        ) -> Result<
            ($crate::flash::board::when::When, $crate::flash::units::Tag),
            $crate::flash::board::nand::fault::Fault,
        > {
            let known = self.$translate(board, io, after)?;
            self.$base.read(board, io, known)
        }
    };
    (@translated $base:ident $translate:ident write) => {
        #[inline]
        fn write(
            &mut self,
            board: &mut $crate::flash::board::Board,
            io: &$crate::flash::request::PageIo,
            after: $crate::flash::board::when::When,
        ) -> Result<$crate::flash::board::when::When, $crate::flash::board::nand::fault::Fault> {
            let known = self.$translate(board, io, after)?;
            self.$base.write(board, io, known)
        }
    };
    (@translated $base:ident $translate:ident trim) => {
        fn trim(
            &mut self,
            board: &mut $crate::flash::board::Board,
            io: &$crate::flash::request::PageIo,
            after: $crate::flash::board::when::When,
        ) -> Result<$crate::flash::board::when::When, $crate::flash::board::nand::fault::Fault> {
            let known = self.$translate(board, io, after)?;
            self.$base.trim(board, io.lpn, known)
        }
    };
    (@payload_pages $base:tt) => {
        fn payload_pages(config: &$crate::scheme::SchemeConfig<Self::Settings>) -> u64 {
            $crate::parts::block_mapped::BlockMapped::payload_pages(config)
        }
    };
    (@read ($($base:ident).+)) => {
        #[inline]
        fn read(
            &mut self,
            board: &mut $crate::flash::board::Board,
            io: &$crate::flash::request::PageIo,
            after: $crate::flash::board::when::When,
        ) -> Result<
            ($crate::flash::board::when::When, $crate::flash::units::Tag),
            $crate::flash::board::nand::fault::Fault,
        > {
            self.$($base).+.read(board, io, after)
        }
    };
    (@trim ($($base:ident).+)) => {
        fn trim(
            &mut self,
            board: &mut $crate::flash::board::Board,
            io: &$crate::flash::request::PageIo,
            after: $crate::flash::board::when::When,
        ) -> Result<$crate::flash::board::when::When, $crate::flash::board::nand::fault::Fault> {
            self.$($base).+.trim(board, io);
            Ok(after)
        }
    };
    (@flush ($($base:ident).+)) => {
        fn flush(
            &mut self,
            board: &mut $crate::flash::board::Board,
            after: $crate::flash::board::when::When,
        ) -> Result<$crate::flash::board::when::When, $crate::flash::board::nand::fault::Fault> {
            self.$($base).+.flush(board, after)
        }
    };
    (@clean_map ($($base:ident).+)) => {
        fn clean_map(
            &mut self,
            board: &mut $crate::flash::board::Board,
            after: $crate::flash::board::when::When,
        ) -> Result<$crate::flash::board::when::When, $crate::flash::board::nand::fault::Fault> {
            self.$($base).+.clean_map(board, after)
        }
    };
    (@changed_entries ($($base:ident).+)) => {
        fn changed_entries(&self) -> u64 {
            self.$($base).+.changed_entries()
        }
    };
    (@locate ($($base:ident).+)) => {
        #[inline]
        fn locate(
            &self,
            board: &$crate::flash::board::Board,
            lpn: $crate::flash::units::Lpn,
        ) -> $crate::answers::Location {
            self.$($base).+.locate(board, lpn)
        }
    };
    (@glance_at ($($base:ident).+)) => {
        #[inline]
        fn glance_at(
            &self,
            board: &$crate::flash::board::Board,
            ppn: $crate::flash::units::Ppn,
        ) -> u32 {
            self.$($base).+.glance_at(board.nand(), ppn)
        }
    };
    (@idle ($($base:ident).+)) => {
        fn idle(
            &mut self,
            board: &mut $crate::flash::board::Board,
            after: $crate::flash::board::when::When,
        ) -> Result<Option<$crate::flash::board::when::When>, $crate::flash::board::nand::fault::Fault> {
            self.$($base).+.idle(board, after)
        }
    };
    (@refresh_at_once ($($base:ident).+)) => {
        fn refresh_at_once(
            &mut self,
            board: &mut $crate::flash::board::Board,
            after: $crate::flash::board::when::When,
        ) -> Result<Option<$crate::flash::board::when::When>, $crate::flash::board::nand::fault::Fault> {
            self.$($base).+.refresh_at_once(board, after)
        }
    };
    (@unsettled ($($base:ident).+)) => {
        fn unsettled(&self, board: &$crate::flash::board::Board) -> $crate::answers::Unsettled {
            self.$($base).+.unsettled(board)
        }
    };
    (@room ($($base:ident).+)) => {
        fn room(&self) -> $crate::answers::Room {
            self.$($base).+.room()
        }
    };
    (@self_check ($($base:ident).+)) => {
        fn self_check(&self, board: &$crate::flash::board::Board) -> Result<(), String> {
            self.$($base).+.self_check(board)
        }
    };
    (@measuring_begins ($($base:ident).+)) => {
        fn measuring_begins(&mut self, board: &mut $crate::flash::board::Board) {
            self.$($base).+.measuring_begins(board);
        }
    };
    (@power_off ($($base:ident).+)) => {
        fn power_off(self) -> Self::Survivor {
            self.$($base).+.keep()
        }
    };
}
