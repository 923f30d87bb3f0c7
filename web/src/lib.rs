//! The library for a page in the browser, as WebAssembly without imports.
//!
//! The page writes a request ([`request`]) and the bytes of a model into the memory of an instance, calls
//! [`abi::run`], and reads an answer ([`answer`]) and an output. Each request gets a fresh instance.

#![deny(unsafe_code)]

pub mod abi;
pub mod answer;
pub mod request;
