//! Derivatives of functions of handles, with the names and meaning that they have in JAX.

use retrograd_compiler::diff;
use retrograd_compiler::ir::{Array, Error};

use crate::pipeline::{self, Direction, Seeds, Wanted};
use crate::transform::{Mode, Seeded, Transformed, Typed, Unseeded, types_of};
use crate::var::{Var, here};

/// The gradient of `f`, whose result is a scalar, with respect to its first argument or to those chosen by
/// [`argnums`](Transformed::argnums).
///
/// ```
/// use retrograd::{Array, grad};
/// let f = grad(|[x]| (x * x * x).sum());
/// assert_eq!(f.run(&[Array::f64([2], vec![1.0, 2.0])])?, [Array::f64([2], vec![3.0, 12.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn grad<'f, F, const N: usize>(f: F) -> Transformed<'f, Gradient>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Gradient, move |vars| vec![f(vars)])
}

/// The value of `f` and its gradient, as [`grad`].
///
/// ```
/// use retrograd::{Array, value_and_grad};
/// let f = value_and_grad(|[x, y]| x * x * y).argnums(&[0, 1]);
/// let (value, gradient) = f.run(&[Array::scalar(3.0), Array::scalar(2.0)])?;
/// assert_eq!(value, Array::scalar(18.0));
/// assert_eq!(gradient, [Array::scalar(12.0), Array::scalar(9.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn value_and_grad<'f, F, const N: usize>(f: F) -> Transformed<'f, ValueAndGradient>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::ValueAndGradient, move |vars| vec![f(vars)])
}

/// The gradient of the first result of `f`, a scalar; the others are handed back as they are.
///
/// ```
/// use retrograd::{Array, grad_with_aux};
/// let f = grad_with_aux(|[x]| {
///     let squares = x * x;
///     (squares.sum(), vec![squares])
/// });
/// let (gradient, aux) = f.run(&[Array::f64([2], vec![1.0, 3.0])])?;
/// assert_eq!(gradient, [Array::f64([2], vec![2.0, 6.0])]);
/// assert_eq!(aux, [Array::f64([2], vec![1.0, 9.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn grad_with_aux<'f, F, const N: usize>(f: F) -> Transformed<'f, WithAux<Gradient>>
where
    F: for<'t> Fn([Var<'t>; N]) -> (Var<'t>, Vec<Var<'t>>) + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Gradient, move |vars| value_first(f(vars)))
}

/// The first result of `f`, a scalar, with the others, and its gradient: `((value, aux), gradient)`.
///
/// ```
/// use retrograd::{Array, value_and_grad_with_aux};
/// let f = value_and_grad_with_aux(|[x]| (x * x, vec![x + 1.0]));
/// let ((value, aux), gradient) = f.run(&[Array::scalar(3.0)])?;
/// assert_eq!((value, aux, gradient), (Array::scalar(9.0), vec![Array::scalar(4.0)], vec![Array::scalar(6.0)]));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn value_and_grad_with_aux<'f, F, const N: usize>(f: F) -> Transformed<'f, WithAux<ValueAndGradient>>
where
    F: for<'t> Fn([Var<'t>; N]) -> (Var<'t>, Vec<Var<'t>>) + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::ValueAndGradient, move |vars| value_first(f(vars)))
}

/// The value of `f` and the pull-back of a cotangent `ct` of it: one cotangent Jᵀct per argument chosen, all floats
/// unless told. [`run_with`](Transformed::run_with) takes the arguments and the cotangent.
///
/// ```
/// use retrograd::{Array, vjp};
/// let f = vjp(|[a, x]| a.dot(x));
/// let (a, x) = (Array::f64([2, 2], vec![1.0, 2.0, 3.0, 4.0]), Array::f64([2], vec![1.0, 10.0]));
/// let (value, cotangents) = f.run_with(&[a, x], &[Array::f64([2], vec![1.0, 0.0])])?;
/// assert_eq!(value, Array::f64([2], vec![21.0, 43.0]));
/// assert_eq!(cotangents[0], Array::f64([2, 2], vec![1.0, 10.0, 0.0, 0.0]));
/// assert_eq!(cotangents[1], Array::f64([2], vec![1.0, 2.0]));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn vjp<'f, F, const N: usize>(f: F) -> Transformed<'f, Vjp>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Vjp, move |vars| vec![f(vars)])
}

/// As [`vjp`], of a function with several results: one cotangent is given per float result, in order.
///
/// ```
/// use retrograd::{Array, vjp_many};
/// let f = vjp_many(|[x]| vec![x * x, 3.0 * x]);
/// let (values, cotangents) = f.run_with(&[Array::scalar(2.0)], &[Array::scalar(1.0), Array::scalar(10.0)])?;
/// assert_eq!(values, [Array::scalar(4.0), Array::scalar(6.0)]);
/// assert_eq!(cotangents, [Array::scalar(34.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn vjp_many<'f, F, const N: usize>(f: F) -> Transformed<'f, VjpMany>
where
    F: for<'t> Fn([Var<'t>; N]) -> Vec<Var<'t>> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Vjp, f)
}

/// The value of `f` and its tangent J dx for a tangent `dx` per argument chosen, all floats unless told.
/// [`run_with`](Transformed::run_with) takes the arguments and the tangents.
///
/// ```
/// use retrograd::{Array, jvp};
/// let f = jvp(|[x, y]| x * y);
/// let (value, tangent) = f.run_with(&[Array::scalar(3.0), Array::scalar(2.0)], &[Array::scalar(1.0), Array::scalar(10.0)])?;
/// assert_eq!((value, tangent), (Array::scalar(6.0), Array::scalar(32.0)));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jvp<'f, F, const N: usize>(f: F) -> Transformed<'f, Jvp>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Jvp, move |vars| vec![f(vars)])
}

/// As [`jvp`], of a function with several results: all values, and one tangent per float result.
///
/// ```
/// use retrograd::{Array, jvp_many};
/// let f = jvp_many(|[x]| vec![x * x, x.convert(retrograd::DType::I64), 3.0 * x]);
/// let (values, tangents) = f.run_with(&[Array::scalar(2.0)], &[Array::scalar(1.0)])?;
/// assert_eq!(values, [Array::scalar(4.0), Array::int(2), Array::scalar(6.0)]);
/// assert_eq!(tangents, [Array::scalar(4.0), Array::scalar(3.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jvp_many<'f, F, const N: usize>(f: F) -> Transformed<'f, JvpMany>
where
    F: for<'t> Fn([Var<'t>; N]) -> Vec<Var<'t>> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Jvp, f)
}

/// The Jacobian of `f` by each argument chosen, in forward mode: an array with the axes of the result, then those of
/// the argument.
///
/// It is one map over the basis vectors of the arguments chosen: code and memory stay those of one jvp and the result.
/// In this version `f` is run again for each of them.
///
/// ```
/// use retrograd::{Array, jacfwd};
/// let f = jacfwd(|[x]| x * x);
/// assert_eq!(f.run(&[Array::f64([2], vec![1.0, 3.0])])?, [Array::f64([2, 2], vec![2.0, 0.0, 0.0, 6.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jacfwd<'f, F, const N: usize>(f: F) -> Transformed<'f, Jacobian>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Jacobian(Some(Direction::Forward)), move |vars| vec![f(vars)])
}

/// The Jacobian of `f`, as [`jacfwd`] gives it, in reverse mode: one map over the basis vectors of the result around a
/// vjp, which in this version runs `f` again for each of them. The budget holds for the whole.
///
/// ```
/// use retrograd::{Array, jacrev};
/// let f = jacrev(|[x, y]| x * y).argnums(&[0, 1]);
/// let jacobians = f.run(&[Array::scalar(3.0), Array::f64([2], vec![1.0, 2.0])])?;
/// assert_eq!(jacobians, [Array::f64([2], vec![1.0, 2.0]), Array::f64([2, 2], vec![3.0, 0.0, 0.0, 3.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jacrev<'f, F, const N: usize>(f: F) -> Transformed<'f, Jacobian>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Jacobian(Some(Direction::Reverse)), move |vars| vec![f(vars)])
}

/// The Jacobian of `f`, by [`jacfwd`] where the arguments chosen have at most as many elements as the result, else by
/// [`jacrev`]; [`seeds`](Transformed::seeds) says which.
///
/// ```
/// use retrograd::{Array, Direction, jacobian};
/// let (f, x) = (jacobian(|[x]| x.slice(..2) * x.at(2)), Array::f64([3], vec![1.0, 2.0, 5.0]));
/// assert_eq!(f.run(&[&x])?, [Array::f64([2, 3], vec![5.0, 0.0, 1.0, 0.0, 5.0, 2.0])]);
/// assert_eq!(f.seeds(&[&x])?.direction(), Direction::Reverse);
/// assert_eq!(f.seeds(&[&x])?.to_string(), "reverse, 2 seeds (forward would take 3)");
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jacobian<'f, F, const N: usize>(f: F) -> Transformed<'f, Jacobian>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Jacobian(None), move |vars| vec![f(vars)])
}

/// The Hessian of `f`, whose result is a scalar, times a direction: H v, one part per argument chosen, by forward over
/// reverse. [`run_with`](Transformed::run_with) takes the arguments and the parts of v.
///
/// ```
/// use retrograd::{Array, hvp};
/// let f = hvp(|[x]| (x * x * x).sum());
/// let product = f.run_with(&[Array::f64([2], vec![1.0, 2.0])], &[Array::f64([2], vec![1.0, 10.0])])?;
/// assert_eq!(product, [Array::f64([2], vec![6.0, 120.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn hvp<'f, F, const N: usize>(f: F) -> Transformed<'f, Hvp>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Hvp, move |vars| vec![f(vars)])
}

/// The Hessian of `f`, whose result is a scalar: `hessian[i][j]` by the i-th and the j-th argument chosen, an array
/// with the axes of the one, then those of the other. It is a map of [`hvp`] over basis vectors, in memory for one of
/// them and the result.
///
/// ```
/// use retrograd::{Array, hessian};
/// let f = hessian(|[x, y]| x * x * y + y * y * y).argnums(&[0, 1]);
/// let h = f.run(&[Array::scalar(3.0), Array::scalar(2.0)])?;
/// assert_eq!(h[0], [Array::scalar(4.0), Array::scalar(6.0)]);
/// assert_eq!(h[1], [Array::scalar(6.0), Array::scalar(12.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn hessian<'f, F, const N: usize>(f: F) -> Transformed<'f, Hessian>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Hessian, move |vars| vec![f(vars)])
}

/// Checks the derivatives of `f` at these arguments up to an order: jvp against central differences, vjp against jvp
/// (or, where only [`Direction::Reverse`] is asked for, against differences) by ⟨ct, J dx⟩ = ⟨Jᵀct, dx⟩, by all float
/// arguments, in all combinations of the modes. `f` must be smooth near the arguments. It runs in the reference
/// interpreter, whose bits machine code has too.
///
/// ```
/// use retrograd::{Array, Direction, check_grads, for_loop};
/// let x = Array::f64([2], vec![0.3, 0.4]);
/// check_grads(|[x]| for_loop(5, x, |_, x| (x * 1.2).tanh()), &[x], 2, &[Direction::Forward, Direction::Reverse])?;
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn check_grads<F, const N: usize>(f: F, args: &[Array; N], order: usize, modes: &[Direction]) -> Result<(), Error>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync,
{
    let pos = here();
    let traced = crate::jit(f).traced(&types_of(args));
    traced.and_then(|program| pipeline::check_grads(&program, args, order, modes)).map_err(|error| error.at(&pos))
}

impl Transformed<'_, Jacobian> {
    /// How many basis vectors the Jacobian takes in each direction; [`jacobian`] goes in the direction that takes
    /// fewer.
    ///
    /// ```
    /// use retrograd::{f64, jacobian};
    /// let f = jacobian(|[x, y]| x.outer(y)).argnums(&[0, 1]);
    /// assert_eq!(f.seeds(&[f64([2]), f64([3])])?.to_string(), "forward, 5 seeds (reverse would take 6)");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn seeds<T: Typed>(&self, args: &[T]) -> Result<Seeds, Error> {
        let (pos, types) = (here(), types_of(args));
        let count = || {
            let program = self.traced(&types)?;
            diff::seeds(&program, &self.places(&types)?, &pipeline::float_results(&program))
        };
        count().map_err(|error| error.at(&pos))
    }
}

fn value_first<'t>((value, aux): (Var<'t>, Vec<Var<'t>>)) -> Vec<Var<'t>> {
    [vec![value], aux].concat()
}

/// What each derivative returns, from the outputs of the compiled entry and the number of arguments chosen.
macro_rules! modes {
    ($($(#[doc = $doc:literal])+ $mode:ident: $marker:ident $({$seed:literal})? -> $output:ty = $form:expr;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub enum $mode {}

        impl Mode for $mode {
            type Output = $output;
            fn output(outputs: Vec<Array>, chosen: usize) -> $output {
                let form: fn(Vec<Array>, usize) -> $output = $form;
                form(outputs, chosen)
            }
        }

        impl $marker for $mode {
            $(const SEED: &'static str = $seed;)?
        }
    )*};
}

modes! {
    /// One gradient per argument chosen.
    Gradient: Unseeded -> Vec<Array> = |outputs, _| outputs;
    /// The value, and one gradient per argument chosen.
    ValueAndGradient: Unseeded -> (Array, Vec<Array>) = |outputs, chosen| {
        let (values, gradient) = last(outputs, chosen);
        (only(values), gradient)
    };
    /// The value, and one cotangent per argument chosen.
    Vjp: Seeded {"cotangent"} -> (Array, Vec<Array>) = |outputs, chosen| {
        let (values, cotangents) = last(outputs, chosen);
        (only(values), cotangents)
    };
    /// The values, and one cotangent per argument chosen.
    VjpMany: Seeded {"cotangent"} -> (Vec<Array>, Vec<Array>) = last;
    /// The value and its tangent.
    Jvp: Seeded {"tangent"} -> (Array, Array) = |outputs, _| {
        let (values, tangents) = last(outputs, 1);
        (only(values), only(tangents))
    };
    /// The values, and one tangent per float among them.
    JvpMany: Seeded {"tangent"} -> (Vec<Array>, Vec<Array>) = |outputs, _| {
        // Results come first, then a tangent for each float result: as many floats as tangents.
        let floats = outputs.iter().filter(|array| array.dtype().is_float()).count();
        last(outputs, floats / 2)
    };
    /// One Jacobian per argument chosen.
    Jacobian: Unseeded -> Vec<Array> = |outputs, _| outputs;
    /// One part of H v per argument chosen.
    Hvp: Seeded {"direction"} -> Vec<Array> = |outputs, _| outputs;
    /// Blocks of the Hessian by two arguments chosen.
    Hessian: Unseeded -> Vec<Vec<Array>> = |outputs, chosen| {
        if chosen == 0 { vec![] } else { outputs.chunks(chosen).map(<[Array]>::to_vec).collect() }
    };
}

/// What a mode returns, and results that are handed back as they are.
#[derive(Clone, Copy, Debug)]
pub struct WithAux<M>(std::convert::Infallible, std::marker::PhantomData<M>);

impl Mode for WithAux<Gradient> {
    type Output = (Vec<Array>, Vec<Array>);
    fn output(outputs: Vec<Array>, chosen: usize) -> Self::Output {
        let (aux, gradient) = last(outputs, chosen);
        (gradient, aux)
    }
}

impl Mode for WithAux<ValueAndGradient> {
    type Output = ((Array, Vec<Array>), Vec<Array>);
    fn output(outputs: Vec<Array>, chosen: usize) -> Self::Output {
        let (mut values, gradient) = last(outputs, chosen);
        let aux = values.split_off(1);
        ((only(values), aux), gradient)
    }
}

impl Unseeded for WithAux<Gradient> {}
impl Unseeded for WithAux<ValueAndGradient> {}

/// The last `count` arrays apart from those before them.
fn last(mut outputs: Vec<Array>, count: usize) -> (Vec<Array>, Vec<Array>) {
    let last = outputs.split_off(outputs.len() - count);
    (outputs, last)
}

fn only(mut arrays: Vec<Array>) -> Array {
    assert_eq!(arrays.len(), 1, "a function of one result has one");
    arrays.remove(0)
}
