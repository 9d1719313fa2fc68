//! What the command writes is what the library returns for the same options.

use crate::common::{Bench, without_wall};
use ftlab_lab::{Experiment, Silent};
use serde_json::Value;

/// The options of a line as a file of experiments holds them.
const EXPERIMENTS: [(&str, &str); 3] = [
    (
        "--scheme dftl --device dftl2014 --capacity 8MiB --set device.over_provisioning=0.2 \
         --set dftl.cmt_entries=256 --precondition fill --verify --probe 10:5 \
         --workload randwrite:bs=2k,span=100%,count=5000,seed=2",
        "scheme = 'dftl'\ndevice = 'dftl2014'\ncapacity = '8MiB'\nprecondition = 'fill'\n\
         verify = true\nprobe = '10:5'\n\
         workload = 'randwrite:bs=2k,span=100%,count=5000,seed=2'\n\
         [set]\ndevice.over_provisioning = 0.2\ndftl.cmt_entries = 256\n",
    ),
    (
        "--scheme hat --device ssdsim2010 --capacity 1GiB --workload financial:count=3000 \
         --address modulo --timing closed:4 --loop 2 --seed 7",
        "schemes = ['hat']\ndevice = 'ssdsim2010'\ncapacity = 1073741824\n\
         workload = 'financial:count=3000'\naddress = 'modulo'\ntiming = 'closed:4'\nloop = 2\n\
         seed = 7\n",
    ),
    (
        "--scheme fast --device adapt2012 --capacity auto --workload t.spc --unit 0,2 \
         --filter op=write --head 50 --address dense --precondition touch --ram 64KiB",
        "scheme = 'fast'\ndevice = 'adapt2012'\ncapacity = 'auto'\nworkload = 't.spc'\n\
         unit = '0,2'\nfilter = 'op=write'\nhead = 50\naddress = 'dense'\n\
         precondition = 'touch'\nram = '64KiB'\n",
    ),
];

#[test]
fn a_run_has_the_result_that_the_library_returns() {
    let bench = Bench::new();
    let lines = (0..400u64).map(|turn| {
        let op = if turn % 5 == 0 { 'r' } else { 'w' };
        format!("{},{},4096,{op},{turn}.5\n", turn % 3, turn * 37 % 100 * 8)
    });
    bench.file("t.spc", lines.collect::<String>());
    for (line, text) in EXPERIMENTS {
        let typed = bench.run(line);
        let name = typed["workload"]["name"].as_str().unwrap().to_owned();
        let mut experiment = Experiment::from_toml(text).unwrap();
        if name == "t.spc" {
            experiment.workload = bench.path("t.spc").display().to_string();
        }
        let result = experiment.plan().unwrap().run(&Silent).unwrap();
        let mut returned: Value =
            serde_json::from_slice(&serde_json::to_vec(&result).unwrap()).unwrap();
        returned["workload"]["name"] = name.into();
        assert_eq!(without_wall(returned), without_wall(typed), "{line}");
    }
}
