//! From core module to component.

use wit_component::ComponentEncoder;

/// Wraps a core module that carries its world in a custom section, as `wit-bindgen` leaves it.
///
/// # Errors
///
/// If the module carries no world, lacks one of its exports, imports something else, or the
/// finished component is not valid.
pub fn from_module(module: &[u8]) -> Result<Vec<u8>, String> {
    // wit-component's error type belongs to a crate that this one does not depend on; its
    // alternate form has all causes.
    let encode = || {
        ComponentEncoder::default()
            .validate(true)
            .module(module)?
            .encode()
    };
    encode().map_err(|error| format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(from_module(b"not wasm").is_err());
    }
}
