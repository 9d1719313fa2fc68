//! Methods of a scheme that are those of the part it stands on.

/// Stands in an `impl Scheme` for the methods that the scheme leaves to what it stands on, such as
/// `BlockMapped` or `DemandMapped`: `forward!(base: flush, locate);` gives the field and the
/// methods.
///
/// `payload_pages`, `read` and `trim` are those of `BlockMapped`; page-mapped schemes translate
/// first.
#[macro_export]
macro_rules! forward {
    ($($base:ident).+: $($method:ident),+) => {
        $crate::forward!(@each ($($base).+) $($method)+);
    };
    (@each $base:tt $($method:ident)+) => {
        $( $crate::forward!(@$method $base); )+
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
    (@locate ($($base:ident).+)) => {
        fn locate(
            &self,
            board: &$crate::flash::board::Board,
            lpn: $crate::flash::units::Lpn,
        ) -> $crate::answers::Location {
            self.$($base).+.locate(board, lpn)
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
}
