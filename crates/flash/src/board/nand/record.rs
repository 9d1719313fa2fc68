//! A record of flash operations in call order, for tests that replay a paper's worked example.

use crate::meter::Cause;
use crate::units::{BlockId, Ppn};

/// One flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A page was read.
    Read(Ppn, Cause),
    /// A page was programmed.
    Program(Ppn, Cause),
    /// A block was erased.
    Erase(BlockId, Cause),
}

/// The record; off unless a test asks for it.
#[derive(Clone, Debug, Default)]
pub struct OperationRecord {
    operations: Option<Vec<Operation>>,
}

impl OperationRecord {
    /// Starts a new record.
    pub fn start(&mut self) {
        self.operations = Some(Vec::new());
    }

    /// Ends the record and returns what was done since it began.
    pub fn take(&mut self) -> Vec<Operation> {
        self.operations.take().unwrap_or_default()
    }

    #[inline]
    pub(super) fn add(&mut self, operation: Operation) {
        if let Some(operations) = &mut self.operations {
            operations.push(operation);
        }
    }
}
