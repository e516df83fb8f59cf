//! From a placed Program to loops over scalar code.

pub mod kernel;
