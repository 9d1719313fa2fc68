//! A record of flash operations in call order, for tests that replay a paper's worked example, and
//! for whoever keeps what the pages hold.

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

/// What else changes what lies on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A program or an erase of this block failed: pages may be torn, the block may be out of use.
    Failure(BlockId),
    /// What a page of a map, a checkpoint or trims held is superseded.
    Superseded(Ppn),
    /// This page was passed over, and is marked invalid.
    PassedOver(Ppn),
    /// The data of this page cannot be read any more.
    Lost(Ppn),
}

/// The record; off unless somebody asks for it.
#[derive(Clone, Debug, Default)]
pub struct OperationRecord {
    operations: Option<Vec<Operation>>,
    changes: Option<Vec<Change>>,
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

    /// Starts a new record that tells all that changes the flash, for [`OperationRecord::drain`].
    pub fn start_with_changes(&mut self) {
        self.start();
        self.changes = Some(Vec::new());
    }

    /// Takes what was done since the last time, in the place of what the lists held, and goes on.
    pub fn drain(&mut self, operations: &mut Vec<Operation>, changes: &mut Vec<Change>) {
        operations.clear();
        changes.clear();
        if let Some(own) = &mut self.operations {
            std::mem::swap(own, operations);
        }
        if let Some(own) = &mut self.changes {
            std::mem::swap(own, changes);
        }
    }

    #[inline]
    pub(super) fn add(&mut self, operation: Operation) {
        if let Some(operations) = &mut self.operations {
            operations.push(operation);
        }
    }

    #[inline]
    pub(super) fn change(&mut self, change: Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }
}
