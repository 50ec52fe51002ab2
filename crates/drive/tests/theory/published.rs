//! Values that are not solved here: fixed points of d choices, simulated tables.
//!
//! They come from the project's theory data, `write-amplification.json`, beside the workspace. A
//! copy of the project without it is held against the numbers below, which are the same facts:
//! closed forms and fixed points of Desnoyers (2012), Xiang and Kurkoski (arXiv:1110.4245) and Van
//! Houdt (2013), and page-mapped and queueing simulations made for that file.

use serde_json::Value;

const FILE: &str = "../../../shared/data/write-amplification.json";

/// Effective over-provisioning of the uniform values.
pub(crate) const UNIFORM_OPS: [f64; 5] = [0.05, 0.07, 0.12, 0.25, 0.5];

/// Dies of the rows of queueing values, commands in flight of their columns.
pub(crate) const DIES: [u32; 5] = [4, 8, 16, 32, 64];
pub(crate) const DEPTHS: [u32; 9] = [1, 2, 3, 4, 8, 16, 32, 64, 128];

/// By [`UNIFORM_OPS`]: FIFO; then for 64 and 256 pages a block greedy, 2 choices, 10 choices.
const UNIFORM: [(f64, [[f64; 2]; 3]); 5] = [
    (10.6721, [[9.1962, 10.2588], [13.8928, 14.4418], [9.6877, 10.5945]]),
    (7.8172, [[7.0099, 7.5969], [10.2772, 10.5835], [7.3230, 7.8280]]),
    (4.8463, [[4.5307, 4.7629], [6.4135, 6.5332], [4.6973, 4.8955]]),
    (2.6927, [[2.5993, 2.6684], [3.5330, 3.5677], [2.6754, 2.7341]]),
    (1.7158, [[1.6808, 1.7069], [2.1896, 2.2016], [1.7213, 1.7424]]),
];

/// Over-provisioning, hot share of the space (80 % of writes to 0.2, 90 % to 0.1): mixed in one
/// FIFO log.
const HOT_COLD: [(f64, f64, f64); 4] =
    [(0.07, 0.2, 8.1818), (0.07, 0.1, 8.8660), (0.28, 0.2, 2.8196), (0.28, 0.1, 3.2961)];

/// Share of requests that are TRIM at over-provisioning 7 %, and write amplification under FIFO.
const TRIM: [(f64, f64); 3] = [(0.1, 3.1421), (0.2, 1.8812), (0.3, 1.3188)];

/// By [`DIES`] and [`DEPTHS`]: dies at work on average, each read of any die taking it the same
/// time, first come first served (simulated).
const DIES_AT_WORK: [[f64; 9]; 5] = [
    [1.0, 1.75066, 2.267, 2.61758, 3.26065, 3.62437, 3.81832, 3.90614, 3.95906],
    [1.0, 1.87428, 2.62802, 3.26499, 4.94792, 6.31752, 7.12669, 7.5653, 7.78528],
    [1.0, 1.93841, 2.81207, 3.62628, 6.31542, 9.62209, 12.41426, 14.17635, 15.08808],
    [1.0, 1.96878, 2.90605, 3.8129, 7.12924, 12.42661, 18.99877, 24.68679, 28.13936],
    [1.0, 1.9847, 2.95375, 3.90701, 7.56458, 14.14777, 24.59873, 37.68963, 49.10988],
];

/// The values, from the file where there is one.
pub(crate) struct Published {
    file: Option<Value>,
}

pub(crate) fn load() -> Published {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Published { file: None };
    };
    let file = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Published { file: Some(file) }
}

impl Published {
    pub(crate) fn fifo(&self, op: f64) -> f64 {
        self.value("uniform", &[("op", op)], "/fifo", UNIFORM[uniform_row(op)].0)
    }

    pub(crate) fn greedy(&self, op: f64, pages: u32) -> f64 {
        let own = UNIFORM[uniform_row(op)].1[0][column(pages)];
        self.value("uniform", &[("op", op)], &format!("/greedy_mf/{pages}"), own)
    }

    /// The best of 2 or 10 choices.
    pub(crate) fn choices(&self, choices: u32, op: f64, pages: u32) -> f64 {
        let own = UNIFORM[uniform_row(op)].1[if choices == 2 { 1 } else { 2 }][column(pages)];
        self.value("uniform", &[("op", op)], &format!("/dchoices/{choices}/{pages}"), own)
    }

    pub(crate) fn hot_cold_fifo(&self, op: f64, hot: f64) -> f64 {
        let own = hot_cold_row(op, hot).2;
        let keys = [("op", op), ("hot_size", hot), ("hot_writes", 1.0 - hot)];
        self.value("hotcold", &keys, "/mixed_fifo", own)
    }

    pub(crate) fn trim_fifo(&self, trims: f64) -> f64 {
        let own = TRIM.iter().find(|row| row.0 == trims).expect("a share of the table").1;
        self.value("trim", &[("op", 0.07), ("trim_fraction", trims)], "/wa_fifo", own)
    }

    pub(crate) fn dies_at_work(&self, dies: u32, depth: u32) -> f64 {
        let place = |list: &[u32], value| list.iter().position(|&one| one == value);
        let row = place(&DIES, dies).expect("dies of the table");
        let own = DIES_AT_WORK[row][place(&DEPTHS, depth).expect("a depth of the table")];
        let keys = [("dies", f64::from(dies)), ("qd", f64::from(depth))];
        self.value("die_queue", &keys, "/x_deterministic_fcfs_sim", own)
    }

    /// A value of the row of `table` with these keys; `own` where there is no file. The two must
    /// be the same fact.
    fn value(&self, table: &str, keys: &[(&str, f64)], pointer: &str, own: f64) -> f64 {
        let Some(file) = &self.file else {
            return own;
        };
        let is = |row: &Value, key: &str, value: f64| {
            row.get(key).and_then(Value::as_f64).is_some_and(|found| (found - value).abs() < 1e-9)
        };
        let rows = file[table].as_array().expect("a list of rows");
        let row = rows.iter().find(|row| keys.iter().all(|&(key, value)| is(row, key, value)));
        let found = row.and_then(|row| row.pointer(pointer)?.as_f64());
        let found =
            found.unwrap_or_else(|| panic!("{table} {keys:?} {pointer} is not in the file"));
        assert!((found / own - 1.0).abs() < 1e-4, "{table} {keys:?}: {found} there, {own} here");
        found
    }
}

fn uniform_row(op: f64) -> usize {
    UNIFORM_OPS.iter().position(|&one| one == op).expect("an over-provisioning of the table")
}

fn column(pages: u32) -> usize {
    [64, 256].iter().position(|&one| one == pages).expect("64 or 256 pages a block")
}

fn hot_cold_row(op: f64, hot: f64) -> &'static (f64, f64, f64) {
    HOT_COLD.iter().find(|row| (row.0, row.1) == (op, hot)).expect("a row of the table")
}
