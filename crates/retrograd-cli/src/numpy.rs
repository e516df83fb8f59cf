//! NumPy's files: `.npy`, one array (NEP 1), and `.npz`, a zip of them.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Cursor, Read, Write};
use std::path::Path;

use npyz::npz::{array_name_from_file_name, file_name_from_array_name};
use npyz::{AutoSerialize, Deserialize, NpyFile, Order, WriteOptions, WriterBuilder};
use retrograd::{Array, Data, Error, ErrorKind, Pos, Type};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::source::argument;

/// The array of a `.npy` file.
pub(crate) fn read_npy(path: &str) -> Result<Array, Error> {
    let bytes = fs::read(path).map_err(|error| unreadable(path, error))?;
    array(&bytes, path)
}

/// The arrays of a `.npz` file with their names, in the order of the archive.
pub(crate) fn read_npz(path: &str) -> Result<Vec<(String, Array)>, Error> {
    let bytes = fs::read(path).map_err(|error| unreadable(path, error))?;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(path, error))?;
    let mut arrays = Vec::new();
    for k in 0..archive.len() {
        let mut entry = archive.by_index(k).map_err(|error| unreadable(path, error))?;
        let file_name = entry.name().map_err(|error| unreadable(path, error))?.into_owned();
        let Some(name) = array_name_from_file_name(&file_name) else { continue };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| unreadable(path, error))?;
        arrays.push((name.to_string(), array(&bytes, &format!("{path}:{name}"))?));
    }
    Ok(arrays)
}

/// The array of that name in a `.npz` file.
pub(crate) fn read_from_npz(path: &str, name: &str) -> Result<Array, Error> {
    let arrays = read_npz(path)?;
    let names: Vec<String> = arrays.iter().map(|(name, _)| name.clone()).collect();
    let found = arrays.into_iter().find(|(found, _)| found == name);
    found
        .map(|(_, array)| array)
        .ok_or_else(|| argument(format!("{path} has no array `{name}`; it has {}", names.join(", "))))
}

/// Writes one array.
pub(crate) fn write_npy(path: &Path, array: &Array) -> Result<(), Error> {
    let write = || {
        let mut file = BufWriter::new(File::create(path)?);
        write_array(&mut file, array)?;
        file.flush()
    };
    write().map_err(|error| unwritable(path, error))
}

/// Writes named arrays, stored as `np.savez` does; the same arrays give the same bytes.
pub(crate) fn write_npz(path: &Path, arrays: &[(String, Array)]) -> Result<(), Error> {
    let write = || {
        let mut archive = ZipWriter::new(BufWriter::new(File::create(path)?));
        // Entries of 4 GiB and more need the long form, and it must be said before they are written.
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        for (name, array) in arrays {
            archive.start_file(file_name_from_array_name(name), options)?;
            write_array(&mut archive, array)?;
        }
        archive.finish()?.flush()
    };
    write().map_err(|error| unwritable(path, error))
}

fn unreadable(path: &str, error: impl Display) -> Error {
    argument(format!("cannot read {path}: {error}"))
}

fn unwritable(path: &Path, error: io::Error) -> Error {
    argument(format!("cannot write {}: {error}", path.display()))
}

/// Reads the bytes of a `.npy` file.
fn array(bytes: &[u8], name: &str) -> Result<Array, Error> {
    let file = NpyFile::new(bytes).map_err(|error| unreadable(name, error))?;
    let descr = file.dtype().descr();
    // `'<f8'`: byte order, kind and bytes of an element; npyz swaps bytes where needed.
    let data: fn(NpyFile<&[u8]>) -> io::Result<Data> = match descr.trim_matches('\'').get(1..) {
        Some("f4") => |file| elements(file).map(Data::F32),
        Some("f8") => |file| elements(file).map(Data::F64),
        Some("i4") => |file| elements(file).map(Data::I32),
        Some("i8") => |file| elements(file).map(Data::I64),
        Some("b1") => |file| elements(file).map(Data::Bool),
        Some(_) | None => {
            let message =
                format!("{name} has elements of type {descr}; convert them to float64, float32, int64, int32 or bool");
            return Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), message));
        }
    };
    let shape = file.shape().iter().map(|extent| usize::try_from(*extent)).collect::<Result<Vec<_>, _>>();
    let shape = shape.map_err(|error| unreadable(name, error))?;
    Ok(Array::new(shape, data(file).map_err(|error| unreadable(name, error))?))
}

/// The elements, row-major.
fn elements<T: Deserialize + Copy>(file: NpyFile<&[u8]>) -> io::Result<Vec<T>> {
    let (order, shape, strides) = (file.order(), file.shape().to_vec(), file.strides().to_vec());
    // A header may promise more than memory holds, so it is believed only as far as there are bytes.
    let promised = shape.iter().try_fold(size_of::<T>() as u64, |bytes, extent| bytes.checked_mul(*extent));
    let header = file.header().clone();
    let bytes = file.into_inner();
    if promised.is_none_or(|promised| promised > bytes.len() as u64) {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends before its last element"));
    }
    let stored: Vec<T> = NpyFile::with_header(header, bytes).into_vec()?;
    match order {
        Order::C => Ok(stored),
        Order::Fortran => Ok(row_major(&shape, &strides).map(|k| stored[k]).collect()),
    }
}

/// Places of the elements of an array with these strides, last axis fastest.
fn row_major(shape: &[u64], strides: &[u64]) -> impl Iterator<Item = usize> {
    (0..shape.iter().product()).map(move |k: u64| {
        let (mut rest, mut place) = (k, 0);
        for (extent, stride) in shape.iter().zip(strides).rev() {
            place += rest % extent * stride;
            rest /= extent;
        }
        usize::try_from(place).expect("elements were read, so their places fit")
    })
}

fn write_array(to: &mut dyn Write, array: &Array) -> io::Result<()> {
    match array.data() {
        Data::F32(x) => write_elements(to, &array.ty(), x),
        Data::F64(x) => write_elements(to, &array.ty(), x),
        Data::I32(x) => write_elements(to, &array.ty(), x),
        Data::I64(x) => write_elements(to, &array.ty(), x),
        Data::Bool(x) => write_elements(to, &array.ty(), x),
    }
}

fn write_elements<T: AutoSerialize + Copy>(to: &mut dyn Write, ty: &Type, elements: &[T]) -> io::Result<()> {
    let shape: Vec<u64> = ty.shape.iter().map(|extent| *extent as u64).collect();
    let mut writer = WriteOptions::<T>::new().default_dtype().shape(&shape).writer(to).begin_nd()?;
    writer.extend(elements.iter().copied())?;
    writer.finish()
}
