//! The integration tests of `retrograd-compiler`, in one binary, so that they are linked once.

mod arithmetic;
mod opt;
mod second_order;
mod text;
