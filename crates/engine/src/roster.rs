//! THE table of schemes: a row names the scheme, its type, and its group of settings. Where a
//! scheme stands on others, the third part of its row says how it gets their settings as well.
//!
//! A new scheme is one file in `ftlab-schemes`, its `mod` line there, and its row here. Names on
//! the command line, in results and in tests come from the table.

use ftlab_flash::settings::Group;
use ftlab_schemes::*;

/// Hands the rows to another macro.
macro_rules! roster {
    ($with:ident) => {
        $with! {
            ideal_page => ideal_page::IdealPage, ideal_page::IdealPageSettings;
            block => block::Block, block::BlockSettings;
            replacement_block =>
                replacement_block::ReplacementBlock, replacement_block::ReplacementBlockSettings;
            bast => bast::Bast, bast::BastSettings;
            fast => fast::Fast, fast::FastSettings;
            faster => faster::Faster, faster::FasterSettings;
            superblock => superblock::Superblock, superblock::SuperblockSettings;
            last => last::Last, last::LastSettings;
            kast => kast::Kast, kast::KastSettings;
            mast => mast::Mast, mast::MastSettings;
            nk => nk::Nk, nk::NkSettings;
            waftl => waftl::Waftl, waftl::WaftlSettings;
            adapt => adapt::Adapt, adapt::settings::AdaptSettings;
            dftl => dftl::Dftl, dftl::DftlSettings;
            cdftl => cdftl::Cdftl, cdftl::CdftlSettings;
            dac => dac::Dac, dac::DacSettings, all => dac::DacOwn {
                dac: all.dac.clone(),
                bast: all.bast.clone(),
                replacement_block: all.replacement_block.clone(),
            };
            lazyftl => lazyftl::LazyFtl, lazyftl::LazyFtlSettings;
            cftl => cftl::Cftl, cftl::CftlSettings;
            janus => janus::Janus, janus::JanusSettings;
            hat => hat::Hat, hat::HatSettings;
            treeftl => treeftl::TreeFtl, treeftl::TreeftlSettings, all => treeftl::TreeOwn {
                treeftl: all.treeftl.clone(),
                replacement_block: all.replacement_block.clone(),
                order: (),
            };
            treeftl_page_lru => treeftl_page_lru::TreePl, treeftl_page_lru::TreeftlPageLruSettings,
                all => treeftl::TreeOwn {
                    treeftl: all.treeftl.clone(),
                    replacement_block: all.replacement_block.clone(),
                    order: all.treeftl_page_lru.clone(),
                };
            aps => aps::Aps, aps::ApsSettings;
            jtl => jtl::Jtl, jtl::JtlSettings;
            hmb => hmb::Hmb, hmb::HmbSettings;
            tpftl => tpftl::Tpftl, tpftl::TpftlSettings;
            sftl => sftl::Sftl, sftl::SftlSettings;
            ca_ssd => ca_ssd::CaSsd, ca_ssd::CaSsdSettings;
            caftl => caftl::Caftl, caftl::CaftlSettings;
            leaftl => leaftl::Leaftl, leaftl::LeaftlSettings;
            learnedftl => learnedftl::LearnedFtl, learnedftl::LearnedftlSettings,
                all => learnedftl::LearnedOwn {
                    learnedftl: all.learnedftl.clone(),
                    tpftl: all.tpftl.clone(),
                };
            zns => zns::Zns, zns::ZnsSettings;
        }
    };
}
pub(crate) use roster;

macro_rules! settings_of_schemes {
    ($( $name:ident => $scheme:path, $settings:path $(, $all:ident => $own:expr)?; )*) => {
        /// Settings of every scheme in the table.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct SchemeSettings {
            $(
                #[doc = concat!("Settings of `", stringify!($name), "`.")]
                pub $name: $settings,
            )*
        }

        impl SchemeSettings {
            pub(crate) fn groups(&self) -> Vec<&dyn Group> {
                vec![ $( &self.$name as &dyn Group, )* ]
            }

            pub(crate) fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
                vec![ $( &mut self.$name as &mut dyn Group, )* ]
            }
        }
    };
}

roster!(settings_of_schemes);
