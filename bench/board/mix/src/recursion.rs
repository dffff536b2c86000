//! Calls and returns: Takeuchi's function, which does little else.

/// The arguments' distance: how much there is to do.
const DISTANCE: i64 = 3;

/// Times that the function is worked out in a round.
const TIMES: usize = 2;

/// A round's work. How much it is does not depend on the seed, the result does.
pub fn work(seed: u32) -> Option<u32> {
    let mut number = 0u32;
    for least in (i64::from(seed)..).take(TIMES) {
        let (x, y, z) = (least + 2 * DISTANCE + 1, least + DISTANCE, least);
        let value = takeuchi(x, y, z);
        if value != in_closed_form(x, y, z) {
            return None;
        }
        number = number.rotate_left(1) ^ value as u32;
    }
    Some(number)
}

/// I. Takeuchi's function as he defined it.
// A call that is one: not merged into another function.
#[inline(never)]
fn takeuchi(x: i64, y: i64, z: i64) -> i64 {
    if x <= y {
        return y;
    }
    takeuchi(
        takeuchi(x - 1, y, z),
        takeuchi(y - 1, z, x),
        takeuchi(z - 1, x, y),
    )
}

/// The closed form of its result (D. E. Knuth, "Textbook Examples of Recursion", 1991, section 2).
fn in_closed_form(x: i64, y: i64, z: i64) -> i64 {
    if x <= y {
        y
    } else if y <= z {
        z
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_definitions_agree() {
        for x in -3..4 {
            for y in -3..4 {
                for z in -3..4 {
                    assert_eq!(takeuchi(x, y, z), in_closed_form(x, y, z), "{x} {y} {z}");
                }
            }
        }
    }
}
