//! The operations: one function each, named after its mnemonic, of the form that [`Compute`](super::Compute) is.

use super::format::{
    Double, Extremum, Format, Injected, Integer, Relation, Single, class, compare, extremum,
    inject, is_nan, is_signalling,
};
use super::host::{self, Host};
use super::{File, Flags, Kind, Rounding, soft};
use crate::decode::Operation;

/// The host's result if the rounding mode is its own, otherwise SoftFloat's.
macro_rules! host_or_soft {
    ($rounding:expr, $host:expr, $soft:expr) => {{
        if $rounding == Rounding::NearestEven
            && let Some(answer) = $host
        {
            answer
        } else {
            $soft
        }
    }};
}

/// Defines the function of each operation and [`lookup`]: operation, function, sources and destination ("x" or "f"
/// registers), mnemonic and section, and the function of the same arguments that computes it.
macro_rules! operations {
    ($($operation:ident $function:ident ($($source:ident)*) -> $destination:ident, $mnemonic:literal, $section:literal:
        $computed:expr;)+) => {
        $(
            #[doc = concat!("`", $mnemonic, "`, section ", $section, ".")]
            #[inline]
            #[must_use]
            pub fn $function(a: u64, b: u64, c: u64, rounding: Rounding) -> (u64, Flags) {
                $computed(a, b, c, rounding)
            }
        )+

        /// The floating-point operation that `operation` is. `None`: it is none, or it loads or stores.
        #[must_use]
        pub const fn lookup(operation: Operation) -> Option<Kind> {
            Some(match operation {
                $(Operation::$operation => Kind {
                    compute: $function,
                    sources: &[$(file!($source)),*],
                    destination: file!($destination),
                },)+
                _ => return None,
            })
        }
    };
}

macro_rules! file {
    (x) => {
        File::Integer
    };
    (f) => {
        File::Float
    };
}

operations! {
    FmaddS  fmadd_s  (f f f) -> f, "fmadd.s", "11.6": multiply_add::<Single, false, false>;
    FmsubS  fmsub_s  (f f f) -> f, "fmsub.s", "11.6": multiply_add::<Single, false, true>;
    FnmsubS fnmsub_s (f f f) -> f, "fnmsub.s", "11.6": multiply_add::<Single, true, false>;
    FnmaddS fnmadd_s (f f f) -> f, "fnmadd.s", "11.6": multiply_add::<Single, true, true>;
    FaddS   fadd_s   (f f) -> f, "fadd.s", "11.6": add::<Single>;
    FsubS   fsub_s   (f f) -> f, "fsub.s", "11.6": subtract::<Single>;
    FmulS   fmul_s   (f f) -> f, "fmul.s", "11.6": multiply::<Single>;
    FdivS   fdiv_s   (f f) -> f, "fdiv.s", "11.6": divide::<Single>;
    FsqrtS  fsqrt_s  (f) -> f, "fsqrt.s", "11.6": square_root::<Single>;
    FsgnjS  fsgnj_s  (f f) -> f, "fsgnj.s", "11.7": |a, b, _, _| with_sign::<Single>(a, b, Injected::Second);
    FsgnjnS fsgnjn_s (f f) -> f, "fsgnjn.s", "11.7": |a, b, _, _| with_sign::<Single>(a, b, Injected::Opposite);
    FsgnjxS fsgnjx_s (f f) -> f, "fsgnjx.s", "11.7": |a, b, _, _| with_sign::<Single>(a, b, Injected::Product);
    FminS   fmin_s   (f f) -> f, "fmin.s", "11.6": |a, b, _, _| extreme::<Single>(a, b, Extremum::Minimum);
    FmaxS   fmax_s   (f f) -> f, "fmax.s", "11.6": |a, b, _, _| extreme::<Single>(a, b, Extremum::Maximum);
    FcvtWS  fcvt_w_s (f) -> x, "fcvt.w.s", "11.7": |a, _, _, rounding| to_integer::<Single>(a, Integer::W, rounding);
    FcvtWuS fcvt_wu_s (f) -> x, "fcvt.wu.s", "11.7": |a, _, _, rounding| to_integer::<Single>(a, Integer::Wu, rounding);
    FcvtLS  fcvt_l_s (f) -> x, "fcvt.l.s", "11.7": |a, _, _, rounding| to_integer::<Single>(a, Integer::L, rounding);
    FcvtLuS fcvt_lu_s (f) -> x, "fcvt.lu.s", "11.7": |a, _, _, rounding| to_integer::<Single>(a, Integer::Lu, rounding);
    // The low half as it is, NaN-boxed or not.
    FmvXW   fmv_x_w  (f) -> x, "fmv.x.w", "11.7": |a, _, _, _| (i64::from(a as i32) as u64, Flags::empty());
    FeqS    feq_s    (f f) -> x, "feq.s", "11.8": |a, b, _, _| compared::<Single>(a, b, Relation::Equal);
    FltS    flt_s    (f f) -> x, "flt.s", "11.8": |a, b, _, _| compared::<Single>(a, b, Relation::Less);
    FleS    fle_s    (f f) -> x, "fle.s", "11.8": |a, b, _, _| compared::<Single>(a, b, Relation::LessOrEqual);
    FclassS fclass_s (f) -> x, "fclass.s", "11.9": |a, _, _, _| (class::<Single>(Single::read(a)), Flags::empty());
    FcvtSW  fcvt_s_w (x) -> f, "fcvt.s.w", "11.7": |a, _, _, rounding| from_integer::<Single>(a, Integer::W, rounding);
    FcvtSWu fcvt_s_wu (x) -> f, "fcvt.s.wu", "11.7": |a, _, _, rounding| from_integer::<Single>(a, Integer::Wu, rounding);
    FcvtSL  fcvt_s_l (x) -> f, "fcvt.s.l", "11.7": |a, _, _, rounding| from_integer::<Single>(a, Integer::L, rounding);
    FcvtSLu fcvt_s_lu (x) -> f, "fcvt.s.lu", "11.7": |a, _, _, rounding| from_integer::<Single>(a, Integer::Lu, rounding);
    FmvWX   fmv_w_x  (x) -> f, "fmv.w.x", "11.7": |a: u64, _, _, _| (super::box_single(a as u32), Flags::empty());

    FmaddD  fmadd_d  (f f f) -> f, "fmadd.d", "12.4": multiply_add::<Double, false, false>;
    FmsubD  fmsub_d  (f f f) -> f, "fmsub.d", "12.4": multiply_add::<Double, false, true>;
    FnmsubD fnmsub_d (f f f) -> f, "fnmsub.d", "12.4": multiply_add::<Double, true, false>;
    FnmaddD fnmadd_d (f f f) -> f, "fnmadd.d", "12.4": multiply_add::<Double, true, true>;
    FaddD   fadd_d   (f f) -> f, "fadd.d", "12.4": add::<Double>;
    FsubD   fsub_d   (f f) -> f, "fsub.d", "12.4": subtract::<Double>;
    FmulD   fmul_d   (f f) -> f, "fmul.d", "12.4": multiply::<Double>;
    FdivD   fdiv_d   (f f) -> f, "fdiv.d", "12.4": divide::<Double>;
    FsqrtD  fsqrt_d  (f) -> f, "fsqrt.d", "12.4": square_root::<Double>;
    FsgnjD  fsgnj_d  (f f) -> f, "fsgnj.d", "12.5": |a, b, _, _| with_sign::<Double>(a, b, Injected::Second);
    FsgnjnD fsgnjn_d (f f) -> f, "fsgnjn.d", "12.5": |a, b, _, _| with_sign::<Double>(a, b, Injected::Opposite);
    FsgnjxD fsgnjx_d (f f) -> f, "fsgnjx.d", "12.5": |a, b, _, _| with_sign::<Double>(a, b, Injected::Product);
    FminD   fmin_d   (f f) -> f, "fmin.d", "12.4": |a, b, _, _| extreme::<Double>(a, b, Extremum::Minimum);
    FmaxD   fmax_d   (f f) -> f, "fmax.d", "12.4": |a, b, _, _| extreme::<Double>(a, b, Extremum::Maximum);
    FcvtSD  fcvt_s_d (f) -> f, "fcvt.s.d", "12.5": |a, _, _, rounding| narrow(a, rounding);
    FcvtDS  fcvt_d_s (f) -> f, "fcvt.d.s", "12.5": |a, _, _, rounding| widen(a, rounding);
    FeqD    feq_d    (f f) -> x, "feq.d", "12.6": |a, b, _, _| compared::<Double>(a, b, Relation::Equal);
    FltD    flt_d    (f f) -> x, "flt.d", "12.6": |a, b, _, _| compared::<Double>(a, b, Relation::Less);
    FleD    fle_d    (f f) -> x, "fle.d", "12.6": |a, b, _, _| compared::<Double>(a, b, Relation::LessOrEqual);
    FclassD fclass_d (f) -> x, "fclass.d", "12.7": |a, _, _, _| (class::<Double>(a), Flags::empty());
    FcvtWD  fcvt_w_d (f) -> x, "fcvt.w.d", "12.5": |a, _, _, rounding| to_integer::<Double>(a, Integer::W, rounding);
    FcvtWuD fcvt_wu_d (f) -> x, "fcvt.wu.d", "12.5": |a, _, _, rounding| to_integer::<Double>(a, Integer::Wu, rounding);
    FcvtLD  fcvt_l_d (f) -> x, "fcvt.l.d", "12.5": |a, _, _, rounding| to_integer::<Double>(a, Integer::L, rounding);
    FcvtLuD fcvt_lu_d (f) -> x, "fcvt.lu.d", "12.5": |a, _, _, rounding| to_integer::<Double>(a, Integer::Lu, rounding);
    FmvXD   fmv_x_d  (f) -> x, "fmv.x.d", "12.5": |a, _, _, _| (a, Flags::empty());
    FcvtDW  fcvt_d_w (x) -> f, "fcvt.d.w", "12.5": |a, _, _, rounding| from_integer::<Double>(a, Integer::W, rounding);
    FcvtDWu fcvt_d_wu (x) -> f, "fcvt.d.wu", "12.5": |a, _, _, rounding| from_integer::<Double>(a, Integer::Wu, rounding);
    FcvtDL  fcvt_d_l (x) -> f, "fcvt.d.l", "12.5": |a, _, _, rounding| from_integer::<Double>(a, Integer::L, rounding);
    FcvtDLu fcvt_d_lu (x) -> f, "fcvt.d.lu", "12.5": |a, _, _, rounding| from_integer::<Double>(a, Integer::Lu, rounding);
    FmvDX   fmv_d_x  (x) -> f, "fmv.d.x", "12.5": |a, _, _, _| (a, Flags::empty());
}

/// A result of format `F`, for its register.
#[inline]
fn written<F: Format>((value, flags): (u64, Flags)) -> (u64, Flags) {
    (F::write(value), flags)
}

#[inline]
fn add<F: Host>(a: u64, b: u64, _: u64, rounding: Rounding) -> (u64, Flags) {
    let (a, b) = (F::read(a), F::read(b));
    written::<F>(host_or_soft!(
        rounding,
        F::add(a, b),
        soft::add::<F>(a, b, rounding)
    ))
}

#[inline]
fn subtract<F: Host>(a: u64, b: u64, _: u64, rounding: Rounding) -> (u64, Flags) {
    // The same as adding the negation, NaNs included: their sign does not show in the result.
    let (a, b) = (F::read(a), F::read(b) ^ F::SIGN);
    written::<F>(host_or_soft!(
        rounding,
        F::add(a, b),
        soft::add::<F>(a, b, rounding)
    ))
}

#[inline]
fn multiply<F: Host>(a: u64, b: u64, _: u64, rounding: Rounding) -> (u64, Flags) {
    let (a, b) = (F::read(a), F::read(b));
    written::<F>(host_or_soft!(
        rounding,
        F::multiply(a, b),
        soft::multiply::<F>(a, b, rounding)
    ))
}

#[inline]
fn divide<F: Host>(a: u64, b: u64, _: u64, rounding: Rounding) -> (u64, Flags) {
    let (a, b) = (F::read(a), F::read(b));
    written::<F>(host_or_soft!(
        rounding,
        F::divide(a, b),
        soft::divide::<F>(a, b, rounding)
    ))
}

#[inline]
fn square_root<F: Host>(a: u64, _: u64, _: u64, rounding: Rounding) -> (u64, Flags) {
    let a = F::read(a);
    written::<F>(host_or_soft!(
        rounding,
        F::square_root(a),
        soft::square_root::<F>(a, rounding)
    ))
}

/// Plus or minus a * b, plus or minus c.
#[inline]
fn multiply_add<F: Host, const PRODUCT_NEGATED: bool, const C_NEGATED: bool>(
    a: u64,
    b: u64,
    c: u64,
    rounding: Rounding,
) -> (u64, Flags) {
    // Negating a factor negates the product before rounding, as it should be.
    let a = F::read(a) ^ if PRODUCT_NEGATED { F::SIGN } else { 0 };
    let b = F::read(b);
    let c = F::read(c) ^ if C_NEGATED { F::SIGN } else { 0 };
    let soft = || soft::multiply_add::<F>(a, b, c, rounding);
    written::<F>(host_or_soft!(rounding, F::multiply_add(a, b, c), soft()))
}

#[inline]
fn with_sign<F: Format>(a: u64, b: u64, sign: Injected) -> (u64, Flags) {
    (
        F::write(inject::<F>(F::read(a), F::read(b), sign)),
        Flags::empty(),
    )
}

#[inline]
fn extreme<F: Format>(a: u64, b: u64, which: Extremum) -> (u64, Flags) {
    written::<F>(extremum::<F>(F::read(a), F::read(b), which))
}

#[inline]
fn compared<F: Format>(a: u64, b: u64, relation: Relation) -> (u64, Flags) {
    compare::<F>(F::read(a), F::read(b), relation)
}

#[inline]
fn narrow(a: u64, rounding: Rounding) -> (u64, Flags) {
    written::<Single>(host_or_soft!(
        rounding,
        host::narrow(a),
        soft::narrow(a, rounding)
    ))
}

/// Exact in every rounding mode, but for a NaN, which becomes the canonical one.
#[inline]
fn widen(a: u64, _: Rounding) -> (u64, Flags) {
    let a = Single::read(a);
    if is_nan::<Single>(a) {
        return (
            Double::NAN,
            super::format::invalid_if(is_signalling::<Single>(a)),
        );
    }
    (Single::to_double(a).to_bits(), Flags::empty())
}

#[inline]
fn to_integer<F: Host>(a: u64, integer: Integer, rounding: Rounding) -> (u64, Flags) {
    let a = F::read(a);
    match host::to_integer::<F>(a, integer, rounding) {
        Some(answer) => answer,
        None => soft::to_integer::<F>(a, integer, rounding),
    }
}

/// The host rounds to nearest even, but what need not be rounded is the same in all modes.
#[inline]
fn from_integer<F: Host>(register: u64, integer: Integer, rounding: Rounding) -> (u64, Flags) {
    let value = match integer {
        Integer::W => i64::from(register as i32),
        Integer::Wu => i64::from(register as u32),
        Integer::L | Integer::Lu => register as i64,
    };
    let negative = !matches!(integer, Integer::Lu) && value < 0;
    let magnitude = if negative {
        value.unsigned_abs()
    } else {
        value as u64
    };
    let answer = F::from_integer(magnitude, negative);
    if rounding == Rounding::NearestEven || answer.1.is_empty() {
        return written::<F>(answer);
    }
    written::<F>(soft::from_integer::<F>(register, integer, rounding))
}
