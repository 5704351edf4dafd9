//! Columns as git aligns them: padded with spaces, no borders, the last column as long as it is.

use unicode_width::UnicodeWidthStr;

use crate::model::visible_line;

/// Rows of cells that are aligned when written.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds a row; every cell is made visible text of one line.
    pub fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows.push(cells.iter().map(|cell| visible_line(cell).into_owned()).collect());
    }

    /// The aligned lines.
    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        self.rows.iter().map(|row| Self::line(row, &widths)).collect()
    }

    fn line(row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            line.push_str(cell);
            if at + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
            }
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_on_a_terminal() {
        let mut table = Table::default();
        table.row(["a", "日本", "x\ny"]);
        table.row(["bcd", "e", ""]);
        assert_eq!(table.lines(), ["a    日本  x\\ny", "bcd  e"]);
    }
}
