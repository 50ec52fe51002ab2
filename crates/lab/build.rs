//! The catalogue is compiled in; a profile that is added or removed must lead to a new build.
fn main() {
    println!("cargo:rerun-if-changed=../../drives");
}
