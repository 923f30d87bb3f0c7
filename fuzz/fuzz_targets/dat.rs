//! Any bytes as a `.dat` or `.npy` file: what is read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::tensor::Tensor;
use nnef_flatten_fuzz::bounded;

fuzz_target!(|bytes: &[u8]| bounded(|| {
    for read in [Tensor::from_dat, Tensor::from_npy] {
        let Ok(tensor) = read(bytes) else { continue };
        if let Ok(written) = tensor.to_dat() {
            let again = Tensor::from_dat(&written).expect("what was written is read");
            assert_eq!(again.shape(), tensor.shape());
        }
        let again = Tensor::from_npy(&tensor.to_npy()).expect("what was written is read");
        assert_eq!((again.shape(), again.data().len()), (tensor.shape(), tensor.data().len()));
    }
}));
