//! Lays out what the fuzzer begins with, in a folder for each target, and prints the targets.

#![allow(clippy::expect_used)]

use akbench_fuzz::{seeds, targets};
use std::fs;
use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("a folder for the seeds"));
    for target in targets::ALL {
        let below = folder.join(target.name);
        fs::create_dir_all(&below).expect("a folder");
        for (number, seed) in seeds::of(target.name).into_iter().enumerate() {
            fs::write(below.join(format!("seed-{number:03}")), seed).expect("a seed");
        }
        println!("{}", target.name);
    }
}
