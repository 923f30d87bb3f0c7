//! The functions that the page calls.
//!
//! Texts and bytes are in buffers of the instance. The page asks for a buffer of some length by `request` and `input`,
//! and fills it; after `run` it reads those of the answer and the output. No function gets an address.

// The attribute `no_mangle` counts as unsafe: two functions of one name would be. Nothing else is unsafe here.
#![allow(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::answer;

/// The buffers of an instance.
struct Buffers {
    request: Vec<u8>,
    input: Vec<u8>,
    answer: Vec<u8>,
    output: Vec<u8>,
}

static BUFFERS: Mutex<Buffers> =
    Mutex::new(Buffers { request: Vec::new(), input: Vec::new(), answer: Vec::new(), output: Vec::new() });

/// Why the program panicked; empty if it did not.
static FAILURE: Mutex<String> = Mutex::new(String::new());

fn buffers() -> MutexGuard<'static, Buffers> {
    BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer of some length, and its address.
fn sized(buffer: &mut Vec<u8>, length: usize) -> *mut u8 {
    *buffer = vec![0; length];
    buffer.as_mut_ptr()
}

/// Makes the buffer of the request, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn request(length: usize) -> *mut u8 {
    sized(&mut buffers().request, length)
}

/// Makes the buffer of the model, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    sized(&mut buffers().input, length)
}

/// Answers the request about the model.
#[unsafe(no_mangle)]
pub extern "C" fn run() {
    std::panic::set_hook(Box::new(|panic| {
        *FAILURE.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    let (request, input) = {
        let mut buffers = buffers();
        (std::mem::take(&mut buffers.request), std::mem::take(&mut buffers.input))
    };
    let (answer, output) = answer::answer(&request, input);
    let mut buffers = buffers();
    buffers.answer = answer.into_bytes();
    buffers.output = output;
}

/// The address of the answer, a text of JSON.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    buffers().answer.as_ptr()
}

/// The number of its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    buffers().answer.len()
}

/// The address of what was written.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    buffers().output.as_ptr()
}

/// The number of its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    buffers().output.len()
}

/// The address of the text that says why the program panicked.
#[unsafe(no_mangle)]
pub extern "C" fn failure() -> *const u8 {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}

/// The number of its bytes; none if it did not panic.
#[unsafe(no_mangle)]
pub extern "C" fn failure_length() -> usize {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).len()
}
