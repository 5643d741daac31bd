//! Bindings to the contract for C, as `wit-bindgen c` generates them.

use std::path::Path;

use wit_bindgen_c::Opts;
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::Resolve;

use crate::atomic;
use crate::failure::{Explain, Outcome};

/// Writes `<world>.h`, `<world>.c` and `<world>_component_type.o` into a folder.
///
/// # Errors
///
/// If the WIT cannot be understood, has no such world, or a file cannot be written.
pub fn generate(wit: &Path, world: &str, folder: &Path) -> Outcome {
    let doing = || format!("generate C bindings from {}", wit.display());
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).explain(doing)?;
    let world = resolve
        .select_world(&[package], Some(world))
        .explain(doing)?;
    let mut files = Files::default();
    Opts::default()
        .build()
        .generate(&mut resolve, world, &mut files)
        .explain(doing)?;
    for (name, bytes) in files.iter() {
        atomic::write(&folder.join(name), bytes)?;
    }
    Ok(())
}
