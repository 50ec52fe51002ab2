//! Drives and tasks are compiled in; one that is added or removed must lead to a new build.
fn main() {
    println!("cargo:rerun-if-changed=../../drives");
    println!("cargo:rerun-if-changed=../../tasks");
}
