//! Closed forms of write amplification, solved here, apart from the model they are held against.
//!
//! `a` is usable physical space over user space, 1 + effective over-provisioning.

/// The root of `f`, which falls from above 0 at `low` to below 0 at `high`.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if f(middle) > 0.0 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// FIFO under uniform writes: u = exp(-a (1 - u)), WA = 1 / (1 - u) (Desnoyers 2012; Xiang and
/// Kurkoski, arXiv:1110.4245).
pub(crate) fn fifo(a: f64) -> f64 {
    let u = root(0.0, 1.0 - 1e-6, |u| (-a * (1.0 - u)).exp() - u);
    1.0 / (1.0 - u)
}

/// Greedy under uniform writes, mean field of many blocks of `n` pages: with m and q in [0, 1] such
/// that (n - m + q) / (H(n) - H(m) + q/m) = n / a, victims hold m or m - 1 valid pages and
/// WA = n / (n - m + q).
pub(crate) fn greedy(a: f64, n: u32) -> f64 {
    let harmonic = |k: u32| (1..=k).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    let (pages, all) = (f64::from(n), harmonic(n));
    let excess = |m: u32, q: f64| {
        let left = all - harmonic(m) + q / f64::from(m);
        (pages - f64::from(m) + q) / left - pages / a
    };
    let m = (1..n).find(|&m| excess(m, 0.0) >= 0.0 && excess(m, 1.0) <= 0.0);
    let m = m.expect("some number of valid pages balances");
    let q = root(0.0, 1.0, |q| excess(m, q));
    pages / (pages - f64::from(m) + q)
}

/// A random victim: it is as full as all blocks are, 1 / a.
pub(crate) fn random(a: f64) -> f64 {
    a / (a - 1.0)
}

/// Classes of data mixed in one FIFO log, each a share of the user's space and a share of the
/// writes: sum of f t / (1 - exp(-f t / r)) = a, WA = a / t.
pub(crate) fn fifo_of_classes(a: f64, classes: &[(f64, f64)]) -> f64 {
    let held = |t: f64| -> f64 {
        let of_class = |&(size, writes): &(f64, f64)| match writes * t / size {
            // Never written: all of it is in the log at all times.
            0.0 => size,
            turns => writes * t / (1.0 - (-turns).exp()),
        };
        classes.iter().map(of_class).sum()
    };
    a / root(1e-9, a, |t| a - held(t))
}

/// Classes of data apart from each other, each with its own spare (shares of the user's space): the
/// sum of f A(1 + s / r), where `of` is A.
pub(crate) fn separated(classes: &[Class], of: impl Fn(f64) -> f64) -> f64 {
    classes.iter().map(|class| class.writes * of(1.0 + class.spare / class.size)).sum()
}

/// Data that is alike: shares of the user's space, of the writes, and its spare over the user's
/// space.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    pub(crate) size: f64,
    pub(crate) writes: f64,
    pub(crate) spare: f64,
}

/// The least write amplification of two classes apart that share the spare `op`, by trying every
/// thousandth of it.
pub(crate) fn best_separated(op: f64, size: f64, writes: f64, of: impl Fn(f64) -> f64) -> f64 {
    let with = |share: f64| {
        let hot = Class { size, writes, spare: op * share };
        let cold = Class { size: 1.0 - size, writes: 1.0 - writes, spare: op * (1.0 - share) };
        separated(&[hot, cold], &of)
    };
    (50..950).map(|share| with(f64::from(share) / 1000.0)).fold(f64::INFINITY, f64::min)
}

/// What TRIM makes of `a` when it is a share `trims` of all requests and hits data in use: a share
/// s = (1 - 2 trims) / (1 - trims) of the user's space stays in use, and a / s is what counts
/// (after Frankie et al., arXiv:1210.5975).
pub(crate) fn with_trims(a: f64, trims: f64) -> f64 {
    a * (1.0 - trims) / (1.0 - 2.0 * trims)
}

#[test]
fn they_give_the_values_of_the_literature() {
    let close = |value: f64, expected: f64| assert!((value - expected).abs() < 6e-3, "{value}");
    // Xiang and Kurkoski: 2.36 at 30 % over-provisioning.
    close(fifo(1.3), 2.36);
    close(greedy(1.3, 64), 2.2928);
    // A block of very many pages leaves greedy nothing to choose.
    close(greedy(1.3, 4096), fifo(1.3));
    // Two classes that are written alike are one.
    close(fifo_of_classes(1.3, &[(0.5, 0.5), (0.5, 0.5)]), fifo(1.3));
    close(random(1.25), 5.0);
    close(fifo(with_trims(1.07, 0.1)), 3.1421);
}
