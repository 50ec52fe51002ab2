//! Drives and tasks are compiled in; one that is added or removed must lead to a new build.
fn main() {
    // Links to the folders beside `crates`, and in a package the folders themselves.
    for folder in ["drives", "tasks"] {
        println!("cargo:rerun-if-changed={folder}");
        let beside = format!("../../{folder}");
        if std::path::Path::new(&beside).exists() {
            println!("cargo:rerun-if-changed={beside}");
        }
    }
}
