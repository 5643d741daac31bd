//! Tables and lists of named values, for people.

use comfy_table::{Table, presets};
use std::fmt::Write;

/// A table with headings, two spaces between columns, no lines. Ends with a newline.
pub fn table<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headings);
    table.add_rows(rows);
    let last = N.saturating_sub(1);
    for (at, column) in table.column_iter_mut().enumerate() {
        let right = if at == last { 0 } else { 2 };
        column.set_padding((0, right));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    text
}

/// A page of names and values, in sections.
#[derive(Default)]
pub struct Page(String);

impl Page {
    /// A line of its own.
    pub fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// The beginning of a section.
    pub fn section(&mut self, title: &str) {
        // Writing to a string can't fail.
        let _ = writeln!(self.0, "\n{title}");
    }

    /// A name and its value.
    pub fn row(&mut self, name: &str, value: impl AsRef<str>) {
        let _ = writeln!(self.0, "  {name:<12} {}", value.as_ref());
    }

    /// Several lines, indented.
    pub fn block(&mut self, lines: &str) {
        for line in lines.lines() {
            let _ = writeln!(self.0, "  {line}");
        }
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.0
    }
}
