//! In which order a loop is advanced, recorded and reversed.
