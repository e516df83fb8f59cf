//! The program: types, values, instructions, functions.
