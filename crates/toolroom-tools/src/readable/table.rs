//! Tables: rows of cells, or a layout, which is not a table to a reader.

/// A longer cell is text, not a value.
const MAX_CELL: usize = 1_000;

/// A table being read.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// Whether it is only a layout.
    pub(super) is_layout: bool,
    pub(super) in_cell: bool,
}

/// A finished table.
pub(super) enum Finished {
    /// Lines of one block.
    Lines(String),
    /// Separate texts of a layout.
    Texts(Vec<String>),
}

impl Table {
    pub(super) fn new(is_layout: bool) -> Self {
        Self { rows: Vec::new(), is_layout, in_cell: false }
    }

    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, text: &str) {
        let text = text.trim().replace('\n', " ");
        match self.rows.last_mut() {
            Some(row) => row.push(text),
            None => self.rows.push(vec![text]),
        }
    }

    /// The table turned out to be a layout. Returns the texts of its cells.
    pub(super) fn become_layout(&mut self) -> Vec<String> {
        self.is_layout = true;
        let cells = std::mem::take(&mut self.rows).into_iter().flatten();
        cells.filter(|cell| !cell.is_empty()).collect()
    }

    pub(super) fn finish(mut self, markup: bool) -> Finished {
        self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        // One row is a line of separate parts.
        if let [row] = self.rows.as_slice()
            && row.iter().all(|cell| cell.len() <= MAX_CELL)
        {
            let cells: Vec<&str> = row.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
            return Finished::Texts(vec![cells.join(" ")]);
        }
        let is_table = self.rows.iter().any(|row| row.len() > 1)
            && self.rows.iter().flatten().all(|cell| cell.len() <= MAX_CELL);
        if !is_table {
            return Finished::Texts(self.become_layout());
        }
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        for (number, row) in self.rows.iter().enumerate() {
            if markup {
                let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
                lines.push(format!("| {} |", cells.join(" | ")));
            } else {
                lines.push(row.join(" | "));
            }
            if number == 0 && markup {
                lines.push(format!("|{}", " --- |".repeat(row.len())));
            }
        }
        Finished::Lines(lines.join("\n"))
    }
}
