//! Multiplications and nested loops: the product of two matrices of 32-bit numbers, modulo 2^32.

use crate::Random;

/// Rows and columns.
const SIZE: usize = 26;

type Matrix = [[u32; SIZE]; SIZE];

/// Two factors and their product.
#[derive(Debug)]
pub struct Matrices {
    left: Matrix,
    right: Matrix,
    product: Matrix,
}

impl Matrices {
    /// All zero.
    pub fn new() -> Self {
        Self {
            left: [[0; SIZE]; SIZE],
            right: [[0; SIZE]; SIZE],
            product: [[0; SIZE]; SIZE],
        }
    }

    /// A round's work: multiplies two random matrices, and checks that the product does to a vector what
    /// the factors do one after the other (R. Freivalds' check).
    pub fn work(&mut self, seed: u32) -> Option<u32> {
        let mut random = Random::new(seed);
        for entry in self.left.iter_mut().chain(&mut self.right).flatten() {
            *entry = random.draw();
        }
        self.multiply();
        let vector = core::array::from_fn(|_| random.draw());
        let image = apply(&self.product, &vector);
        let expected = apply(&self.left, &apply(&self.right, &vector));
        let number = image.iter().fold(0u32, |sum, &x| sum.rotate_left(5) ^ x);
        (image == expected).then_some(number)
    }

    fn multiply(&mut self) {
        for (row, out) in self.left.iter().zip(&mut self.product) {
            for (column, out) in out.iter_mut().enumerate() {
                *out = row.iter().zip(&self.right).fold(0u32, |sum, (x, row)| {
                    sum.wrapping_add(x.wrapping_mul(row[column]))
                });
            }
        }
    }
}

impl Default for Matrices {
    fn default() -> Self {
        Self::new()
    }
}

/// A matrix times a vector.
fn apply(matrix: &Matrix, vector: &[u32; SIZE]) -> [u32; SIZE] {
    matrix.map(|row| {
        row.iter()
            .zip(vector)
            .fold(0u32, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_times_a_matrix_is_the_matrix() {
        let mut matrices = Matrices::new();
        matrices.work(3).expect("the host computes rightly");
        for (index, row) in matrices.left.iter_mut().enumerate() {
            *row = [0; SIZE];
            row[index] = 1;
        }
        matrices.multiply();
        assert_eq!(matrices.product, matrices.right);
    }

    #[test]
    fn a_transposed_product_is_another_one() {
        let mut matrices = Matrices::new();
        matrices.work(3).expect("the host computes rightly");
        let vector = [1; SIZE];
        let rows = apply(&matrices.product, &vector);
        let mut turned = matrices.product;
        for (i, row) in matrices.product.iter().enumerate() {
            for (j, &entry) in row.iter().enumerate() {
                turned[j][i] = entry;
            }
        }
        assert_ne!(apply(&turned, &vector), rows);
    }
}
