//! Tasks are compiled in; one that is added or removed must lead to a new build.
fn main() {
    // A link to the folder beside `crates`, and in a package the folder itself.
    println!("cargo:rerun-if-changed=tasks");
    if std::path::Path::new("../../tasks").exists() {
        println!("cargo:rerun-if-changed=../../tasks");
    }
}
