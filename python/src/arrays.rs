//! NumPy arrays over memory that an object of ours owns: no copy, and not to be written.

use std::mem::{offset_of, size_of};

use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// An array of `values`, which `owner` owns, never changes and never moves as long as it lives.
///
/// Every caller's `owner` is a frozen class that holds `values` behind an `Arc` or a `OnceLock`.
pub(crate) fn view<'py, T: Element>(
    owner: Bound<'py, PyAny>,
    values: &[T],
) -> Bound<'py, PyArray1<T>> {
    // SAFETY: the array keeps `owner` alive, which keeps `values` where they are; nobody writes
    // them: not here, since what is frozen has no way to, and not there, since the array refuses it.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(values), owner) };
    array.readwrite().make_nonwriteable();
    array
}

// Two numbers side by side are a row of an array: tuples may be laid out in any way, and these are so.
const _: () = assert!(
    size_of::<(u64, u64)>() == 16
        && offset_of!((u64, u64), 0) == 0
        && offset_of!((u64, u64), 1) == 8
);
const _: () = assert!(
    size_of::<(f64, f64)>() == 16
        && offset_of!((f64, f64), 0) == 0
        && offset_of!((f64, f64), 1) == 8
);

/// The same of pairs, as an array of two columns. `T` is u64 or f64.
pub(crate) fn view_pairs<'py, T: Element + Pair>(
    owner: Bound<'py, PyAny>,
    pairs: &[(T, T)],
) -> Bound<'py, PyArray2<T>> {
    // SAFETY: by the assertions above a pair is two values one after the other, so `pairs` is twice
    // as many; then as in `view`.
    let array = unsafe {
        let rows = ArrayView2::from_shape_ptr((pairs.len(), 2), pairs.as_ptr().cast::<T>());
        PyArray2::borrow_from_array(&rows, owner)
    };
    array.readwrite().make_nonwriteable();
    array
}

/// What the layout of a pair was checked of.
pub(crate) trait Pair {}
impl Pair for u64 {}
impl Pair for f64 {}
