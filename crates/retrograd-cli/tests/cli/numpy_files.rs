//! Inputs and outputs in NumPy's files, against bytes put together here.

use std::fs;
use std::path::Path;

use crate::support::{Ran, retrograd, scratch};

/// A `.npy` file, version 1: magic, length of the header, the header padded to 64 bytes, elements.
fn npy(descr: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("headers are short").to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), elements].concat()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A zip with stored entries: each with its local header, then the directory and its end.
fn zip(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let offset = bytes.len() as u32;
        let size = (content.len() as u32).to_le_bytes();
        // Version 2.0, no flags, stored, no date.
        let shared = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &crc32(content).to_le_bytes(),
            &size,
            &size,
            &(name.len() as u16).to_le_bytes(),
        ];
        bytes.extend([&b"PK\x03\x04"[..], &shared.concat(), &[0, 0], name.as_bytes(), content].concat());
        // Version made by; extra, comment, disk, attributes; then where the entry is.
        directory.extend(
            [&b"PK\x01\x02\x14\x00"[..], &shared.concat(), &[0; 12], &offset.to_le_bytes(), name.as_bytes()].concat(),
        );
    }
    let (count, start, size) = ((entries.len() as u16).to_le_bytes(), bytes.len() as u32, directory.len() as u32);
    let end = [&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &size.to_le_bytes(), &start.to_le_bytes(), &[0, 0]].concat();
    [bytes, directory, end].concat()
}

/// The checksum of zip, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// A Program that returns its inputs.
fn same(types: &[&str]) -> String {
    let inputs: Vec<String> = types.iter().enumerate().map(|(k, ty)| format!("%{k}: {ty}")).collect();
    let names: Vec<String> = (0..types.len()).map(|k| format!("%{k}")).collect();
    format!("fn main({}) -> {} {{\n  return {}\n}}\n", inputs.join(", "), types.join(", "), names.join(", "))
}

fn run(folder: &Path, types: &[&str], arguments: &[&str]) -> Ran {
    retrograd(folder, &[&["run", "-"], arguments].concat(), &same(types))
}

#[test]
fn npy_files_are_read() {
    let folder = &scratch("npy_files_are_read");
    let file = |name: &str, bytes: Vec<u8>| fs::write(folder.join(name), bytes).expect("the folder is ours");
    file("vector.npy", npy("<f8", "False", "(3,)", &doubles(&[1.0, -0.0, f64::INFINITY])));
    file("scalar.npy", npy("<f8", "False", "()", &doubles(&[0.1])));
    file("big.npy", npy(">i8", "False", "(2,)", &[7i64.to_be_bytes(), (-1i64).to_be_bytes()].concat()));
    file("mask.npy", npy("|b1", "False", "(2, 1)", &[1, 0]));
    file("columns.npy", npy("<f8", "True", "(2, 3)", &doubles(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])));
    file("empty.npy", npy("<f8", "True", "(0, 3)", &[]));
    let types = ["f64[3]", "f64", "i64[2]", "bool[2,1]", "f64[2,3]", "f64[0,3]"];
    let names = ["vector", "scalar", "big", "mask", "columns", "empty"].map(|name| format!("--input={name}.npy"));
    run(folder, &types, &names.each_ref().map(String::as_str)).says(
        "f64[3] [1.0, -0.0, inf]\n0.1\ni64[2] [7, -1]\nbool[2,1] [[true], [false]]\nf64[2,3] [[1.0, 2.0, 3.0], [4.0, \
         5.0, 6.0]]\nf64[0,3] []\n",
    );
}

#[test]
fn npz_files_are_read_in_order_or_by_name() {
    let folder = &scratch("npz_files_are_read");
    let arrays = [("z.npy", npy("<f8", "False", "(2,)", &doubles(&[1.0, 2.0]))), ("readme.txt", b"no array".to_vec())];
    let more = [("a.npy", npy("<i8", "False", "()", &5i64.to_le_bytes()))];
    fs::write(folder.join("all.npz"), zip(&[&arrays[..], &more].concat())).expect("the folder is ours");
    run(folder, &["f64[2]", "i64"], &["--input", "all.npz"]).says("f64[2] [1.0, 2.0]\n5\n");
    run(folder, &["i64", "f64[2]"], &["--input", "all.npz:a", "--input", "all.npz:z"]).says("5\nf64[2] [1.0, 2.0]\n");
    run(folder, &["i64"], &["--input", "all.npz:b"]).fails_with(1, "all.npz has no array `b`; it has z, a");
}

#[test]
fn npy_files_are_written_to_the_byte() {
    let folder = &scratch("npy_files_are_written");
    run(folder, &["f64[2]"], &["--input", "f64[2] [1.5, -2.0]", "--output", "out.npy"]).says("");
    assert_eq!(
        fs::read(folder.join("out.npy")).expect("it was written"),
        npy("<f8", "False", "(2, )", &doubles(&[1.5, -2.0]))
    );
    run(folder, &["f64[2]"], &["--input", "out.npy"]).says("f64[2] [1.5, -2.0]\n");
    let two = ["--input", "1.0", "--input", "2.0", "--output", "two.npy"];
    run(folder, &["f64", "f64"], &two).fails_with(1, "two.npy holds one array and there are 2; write to a .npz file");
    assert!(!folder.join("two.npy").exists());
    run(folder, &["f64"], &["--input", "1.0", "--output", "nowhere/out.npy"])
        .fails_with(1, "cannot write nowhere/out.npy: ");
}

#[test]
fn npz_files_come_back_as_they_were() {
    let folder = &scratch("npz_files_come_back");
    let types = ["f64[2,2]", "i64", "bool[2]"];
    let literals = ["f64[2,2] [[0.1, nan], [-inf, -0.0]]", "-3", "bool[2] [true, false]"];
    let inputs: Vec<&str> = literals.iter().flat_map(|literal| ["--input", literal]).collect();
    run(folder, &types, &[&inputs[..], &["--output", "out.npz"]].concat()).says("");
    run(folder, &types, &["--input", "out.npz"]).says(&literals.map(|literal| format!("{literal}\n")).concat());
    run(folder, &["i64"], &["--input", "out.npz:result_1"]).says("-3\n");
    let first = fs::read(folder.join("out.npz")).expect("it was written");
    run(folder, &types, &[&inputs[..], &["--output", "again.npz"]].concat()).says("");
    assert_eq!(
        fs::read(folder.join("again.npz")).expect("it was written"),
        first,
        "the same arrays give the same bytes"
    );
}

#[test]
fn gradients_are_written_by_name() {
    let folder = &scratch("gradients_are_written");
    let square = "fn main(%x: f64) -> f64 {\n  %y: f64 = mul %x, %x\n  return %y\n}\n";
    retrograd(folder, &["grad", "-", "--input", "3.0", "--output", "out.npz"], square).says("");
    run(folder, &["f64", "f64"], &["--input", "out.npz:value", "--input", "out.npz:gradient_0"]).says("9.0\n6.0\n");
}

#[test]
fn broken_files_are_named() {
    let folder = &scratch("broken_files");
    let broken = |name: &str, bytes: Vec<u8>, part: &str| {
        fs::write(folder.join(name), bytes).expect("the folder is ours");
        run(folder, &["f64[3]"], &["--input", name]).fails_with(1, part);
    };
    let three = npy("<f8", "False", "(3,)", &doubles(&[1.0, 2.0, 3.0]));
    broken(
        "short.npy",
        three[..three.len() - 1].to_vec(),
        "cannot read short.npy: the file ends before its last element",
    );
    broken(
        "huge.npy",
        npy("<f8", "False", "(1000000000000000,)", &[]),
        "cannot read huge.npy: the file ends before its last element",
    );
    let cube = npy("<f8", "False", "(4294967296, 4294967296, 4294967296)", &[]);
    broken("overflow.npy", cube, "cannot read overflow.npy: the file ends before its last element");
    broken("text.npy", b"1 2 3".to_vec(), "cannot read text.npy: ");
    broken(
        "complex.npy",
        npy("<c16", "False", "(1,)", &[0; 16]),
        "unsupported: complex.npy has elements of type '<c16'; convert",
    );
    broken("four.npy", npy("<f8", "False", "(4,)", &doubles(&[0.0; 4])), "input 0 is f64[3], found f64[4]");
    broken("text.npz", b"PK".to_vec(), "cannot read text.npz: ");
    let mut damaged = zip(&[("a.npy", three)]);
    // After the entry's header (35 bytes) and that of the array (128) come the elements; their checksum no longer
    // holds.
    damaged[170] ^= 1;
    broken("damaged.npz", damaged, "cannot read damaged.npz: ");
}
