//! The module attribute as host code imports it.
extern crate cuda_macros;
pub use cuda_macros::cuda_module;
