//! Scalar functions as straight sequences of arithmetic: the same bits in the interpreter and in every back end.
