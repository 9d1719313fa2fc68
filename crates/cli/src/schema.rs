//! `ftlab schema`: the format of results, for programs.

use ftlab_lab::Result;
use ftlab_report::schema;

use crate::arguments::{SchemaArguments, SchemaOf};
use crate::print;

/// Prints a schema.
pub fn schema(typed: &SchemaArguments) -> Result<()> {
    print::json(&match typed.of {
        SchemaOf::Results => schema::results(),
        SchemaOf::Rows => schema::rows(),
    })
}
