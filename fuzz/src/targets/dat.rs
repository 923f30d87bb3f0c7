//! Any bytes as a `.dat` or `.npy` file: what is read can be written and read again.

use nnef_flatten::tensor::Tensor;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    for read in [Tensor::from_dat, Tensor::from_npy] {
        let Ok(tensor) = read(bytes) else { continue };
        if let Ok(written) = tensor.to_dat() {
            let again = Tensor::from_dat(&written).expect("what was written is read");
            assert_eq!(again.shape(), tensor.shape());
        }
        let again = Tensor::from_npy(&tensor.to_npy()).expect("what was written is read");
        assert_eq!((again.shape(), again.data().len()), (tensor.shape(), tensor.data().len()));
    }
}
