//! Where results go: to the terminal, long arrays abbreviated, or to a NumPy file.

use std::path::{Path, PathBuf};

use retrograd::{Array, Data, Error};

use crate::arguments::Outputs;
use crate::numpy;
use crate::source::argument;

/// A file of a form that is known by its extension.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// One array.
    Npy(PathBuf),
    /// Any number, by name.
    Npz(PathBuf),
}

impl Format {
    /// The form of a file of that name.
    pub(crate) fn of(path: &str) -> Result<Format, String> {
        match Path::new(path).extension().and_then(|extension| extension.to_str()) {
            Some("npy") => Ok(Format::Npy(path.into())),
            Some("npz") => Ok(Format::Npz(path.into())),
            Some(_) | None => Err("the name must end in .npy or .npz".into()),
        }
    }
}

impl Outputs {
    /// Refuses, before anything runs, a file that cannot hold as many arrays.
    pub(crate) fn check(&self, count: usize) -> Result<(), Error> {
        match &self.output {
            Some(Format::Npy(path)) if count != 1 => {
                Err(argument(format!("{} holds one array and there are {count}; write to a .npz file", path.display())))
            }
            Some(Format::Npy(_) | Format::Npz(_)) | None => Ok(()),
        }
    }

    /// Writes named arrays to the file, or returns them as text, one a line, each line begun as `label` says.
    pub(crate) fn deliver(&self, arrays: Vec<(String, Array)>, label: fn(&str) -> String) -> Result<String, Error> {
        match &self.output {
            Some(Format::Npy(path)) => numpy::write_npy(path, &arrays[0].1).map(|()| String::new()),
            Some(Format::Npz(path)) => numpy::write_npz(path, &arrays).map(|()| String::new()),
            None => Ok(arrays.iter().map(|(name, array)| format!("{}{}\n", label(name), self.shown(array))).collect()),
        }
    }

    fn shown(&self, array: &Array) -> String {
        if self.full || array.len() <= LONG { array.to_string() } else { abbreviated(array) }
    }
}

/// Elements of an array that is still shown in full.
const LONG: usize = 100;
/// Elements, rows, … shown at each end of a long axis.
const EDGE: usize = 3;

/// The text form of an array with `…` in the middle of long axes.
fn abbreviated(array: &Array) -> String {
    let element = |k: usize| match array.data() {
        Data::F32(x) => format!("{:?}", x[k]).to_lowercase(),
        Data::F64(x) => format!("{:?}", x[k]).to_lowercase(),
        Data::I32(x) => x[k].to_string(),
        Data::I64(x) => x[k].to_string(),
        Data::Bool(x) => x[k].to_string(),
    };
    format!("{} {}", array.ty(), nested(array.shape(), 0, &element))
}

fn nested(shape: &[usize], first: usize, element: &dyn Fn(usize) -> String) -> String {
    let [extent, inner @ ..] = shape else { return element(first) };
    let row = |k: usize| nested(inner, first + k * inner.iter().product::<usize>(), element);
    let rows: Vec<String> = if *extent <= 2 * EDGE {
        (0..*extent).map(row).collect()
    } else {
        (0..EDGE).map(row).chain(["…".into()]).chain((extent - EDGE..*extent).map(row)).collect()
    };
    format!("[{}]", rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_axes_show_their_ends() {
        let numbers = |n: i32| (0..n).map(f64::from).collect();
        assert_eq!(abbreviated(&Array::f64([101], numbers(101))), "f64[101] [0.0, 1.0, 2.0, …, 98.0, 99.0, 100.0]");
        let matrix = abbreviated(&Array::f64([2, 60], numbers(120)));
        assert_eq!(
            matrix,
            "f64[2,60] [[0.0, 1.0, 2.0, …, 57.0, 58.0, 59.0], [60.0, 61.0, 62.0, …, 117.0, 118.0, 119.0]]"
        );
    }
}
