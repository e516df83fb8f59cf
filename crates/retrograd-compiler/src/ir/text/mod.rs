//! The text form (`.rg`): every Program prints, and what is printed parses to the same Program.
//!
//! ```text
//! // The first function is the entry; the others are bodies, in the order of first reference.
//! fn main(%0: f64[10], %1: f64) -> f64[10] {
//!   %2: i64 = constant {value=1000}
//!   %3: f64[10] = for %2 carries(%0) invariants(%1) {body=step}
//!   return %3
//! }
//!
//! fn step(%0: i64, %1: f64[10], %2: f64) -> f64[10] {
//!   %3: f64[10] = broadcast %2 {shape=[10], axes=[]}
//!   %4: f64[10] = mul %1, %3
//!   return %4
//! }
//! ```
//!
//! ```text
//! program     = function…
//! function    = fn name ( %a: type, … ) [-> type, …] { instruction… return %a, … }
//! instruction = [%a: type, … =] operation [@ "file":line | @ unknown]
//! operation   = row %a, … {attribute=…, …}
//!             | if %p args(%a, …) {then=name, else=name}
//!             | for %n carries(…) invariants(…) streams(…) {body=name, bound=rows}
//!             | while carries(…) invariants(…) {cond=name, body=name}
//!             | unwind %n carries(…) invariants(…) streams(…) adjoints(…) emitted(…) running(…) {body=name, bwd=name, bound=rows, custom=1}
//!             | call args(…) {body=name}
//!             | call args(…) {body=name, forward=name, backward=name}
//!             | call args(…) {body=name, tangent=name}
//! attribute   = [1, 2] | f64 | f64[2,3] | literal
//! literal     = 1.5 | inf | nan | 3 | true | f64[2,2] [[1.0, 2.0], [3.0, 4.0]]
//! ```
//!
//! Empty groups, empty attributes, `bound=0` and `custom=0` (bwd is linear) are left out. Space and line ends separate
//! only; `//` starts a comment. Values may have any name of letters and digits after `%`; printing numbers them in
//! order of definition. Without `@` an instruction is at its own line of the text; `{:#}` prints the positions that
//! instructions carry. An array without elements is `[]` after its type, a NaN with unusual bits
//! `nan(0x7ff0000000000001)`.

mod lex;
mod parse;
mod print;

pub use parse::parse;

/// Labels of the argument groups in the text form, after the count or the predicate.
mod groups {
    pub(super) const IF: [&str; 1] = ["args"];
    pub(super) const FOR: [&str; 3] = ["carries", "invariants", "streams"];
    pub(super) const WHILE: [&str; 2] = ["carries", "invariants"];
    pub(super) const CALL: [&str; 1] = ["args"];
    pub(super) const UNWIND: [&str; 6] = ["carries", "invariants", "streams", "adjoints", "emitted", "running"];
}
