//! The rows in their order: those on disk, read in pieces when somebody asks, and those added since.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::CacheError;
use super::row::{self, Row, SIZE};

/// How many rows are read at a time: 64 KiB.
const PIECE: u32 = 1024;

/// The rows. Only the end of it ever changes.
#[derive(Debug, Default)]
pub(super) struct Table {
    file: Option<File>,
    /// How many rows are served from the file; the others are in `tail`.
    base: u32,
    pieces: Vec<OnceCell<Box<[u8]>>>,
    tail: Vec<Row>,
}

impl Table {
    /// The first `rows` rows of a file.
    pub(super) fn open(file: File, rows: u32) -> Self {
        let pieces = (0..rows.div_ceil(PIECE)).map(|_| OnceCell::new()).collect();
        Self { file: Some(file), base: rows, pieces, tail: Vec::new() }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> u32 {
        self.base + self.tail.len() as u32
    }

    /// The row at a position below [`Table::len`].
    pub(super) fn get(&self, position: u32) -> Result<Row, CacheError> {
        if position >= self.base {
            return self.tail.get((position - self.base) as usize).copied().ok_or(CacheError::Damaged);
        }
        let piece = self.piece(position / PIECE)?;
        let at = (position % PIECE) as usize * SIZE;
        Row::decode(piece.get(at..at + SIZE).ok_or(CacheError::Damaged)?)
    }

    /// Adds a row at the end.
    pub(super) fn push(&mut self, row: Row) {
        self.tail.push(row);
    }

    /// Takes the last row away.
    pub(super) fn pop(&mut self) {
        if self.tail.pop().is_none() {
            self.base = self.base.saturating_sub(1);
        }
    }

    /// The bytes of the rows from `start` on.
    pub(super) fn bytes_from(&self, start: u32) -> Result<Vec<u8>, CacheError> {
        let mut bytes = Vec::with_capacity((self.len() - start) as usize * SIZE);
        for position in start..self.len() {
            bytes.extend_from_slice(&self.get(position)?.encode(position));
        }
        Ok(bytes)
    }

    /// A piece of the file with every checksum verified.
    fn piece(&self, number: u32) -> Result<&[u8], CacheError> {
        let cell = self.pieces.get(number as usize).ok_or(CacheError::Damaged)?;
        if let Some(piece) = cell.get() {
            return Ok(piece);
        }
        let first = number * PIECE;
        let count = PIECE.min(self.base - first);
        let mut bytes = vec![0; count as usize * SIZE];
        let mut file = self.file.as_ref().ok_or(CacheError::Damaged)?;
        file.seek(SeekFrom::Start(u64::from(first) * SIZE as u64))?;
        file.read_exact(&mut bytes)?;
        let sound = bytes.chunks_exact(SIZE).zip(first..).all(|(bytes, position)| row::verify(bytes, position));
        if sound { Ok(cell.get_or_init(|| bytes.into())) } else { Err(CacheError::Damaged) }
    }
}
