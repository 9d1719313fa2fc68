//! The formats of results as JSON schemas (draft 2020-12), made from what is written: the types of
//! a result with their comments, the settings, the columns of rows. Tests hold results to them.

use ftlab_engine::config::Config;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::records::{COLUMNS, Kind};
use crate::result::{RunResult, SCHEMA};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Sizes that stand beside the settings of a device, because they follow from them.
const SIZES: [(&str, &str); 3] = [
    ("physical_blocks", "Erase blocks of the whole device."),
    ("physical_pages", "Pages of the whole device, of mapping units where these are smaller."),
    ("logical_pages", "Pages that it exports."),
];

/// A file of results: an object per run, or an array of them. Keys that are not in it are not
/// legal.
///
/// # Panics
/// Never: schemas are objects.
#[must_use]
pub fn results() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let run = generator.subschema_for::<RunResult>();
    let mut types = generator.take_definitions(true);
    for schema in types.values_mut().filter_map(Value::as_object_mut) {
        close(schema);
    }
    let fields = types["RunResult"]["properties"].as_object_mut().expect("fields of a result");
    fields.insert("config".to_owned(), configuration());
    fields["schema"]["const"] = SCHEMA.into();
    json!({
        "$schema": DRAFT,
        "title": "Results of ftlab",
        "if": { "type": "array" },
        "then": { "items": run },
        "else": run,
        "$defs": types,
    })
}

/// No key but those of the type; what a field is where nothing ran is nobody's business.
fn close(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for field in fields.values_mut().filter_map(Value::as_object_mut) {
            field.remove("default");
        }
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Every setting that there is; a result has those that concern it. Values are numbers, `true` or
/// `false`, or text with a unit, so that they have no type here.
fn configuration() -> Value {
    let mut groups = Map::new();
    for setting in Config::default().describe() {
        let (group, name) = setting.key.split_once('.').expect("group.key");
        let closed =
            || json!({ "type": "object", "properties": {}, "additionalProperties": false });
        let group = groups.entry(group).or_insert_with(closed);
        group["properties"][name] = json!({ "description": setting.doc });
    }
    for (name, about) in SIZES {
        groups["device"]["properties"][name] = json!({ "type": "integer", "description": about });
    }
    json!({
        "description": "The effective configuration, by group.",
        "type": "object",
        "properties": groups,
        "additionalProperties": false,
    })
}

/// A row of a file of requests.
#[must_use]
pub fn rows() -> Value {
    let kind = |kind: Kind| match kind {
        Kind::Integer => "integer",
        Kind::Real => "number",
        Kind::Word => "string",
    };
    let field = |(name, about, of): (&String, &String, Kind)| {
        (name.clone(), json!({ "description": about, "type": kind(of) }))
    };
    let columns = || COLUMNS.iter().map(|column| (&column.name, &column.about, column.kind));
    let names: Vec<&String> = COLUMNS.iter().map(|column| &column.name).collect();
    json!({
        "$schema": DRAFT,
        "title": "A row of --requests-out",
        "type": "object",
        "properties": columns().map(field).collect::<Map<_, _>>(),
        "required": names,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The book prints what stands here, so that nothing may stand without a word.
    #[test]
    fn every_field_says_what_it_means_and_no_type_takes_keys_that_it_does_not_name() {
        let schema = results();
        let types = schema["$defs"].as_object().unwrap();
        assert!(types.len() > 25, "few types: {}", types.len());
        for (name, of) in types {
            let fields = of["properties"].as_object().unwrap_or_else(|| panic!("{name}: {of}"));
            assert_eq!(of["additionalProperties"], false, "{name}");
            for (field, about) in fields {
                let text = about["description"].as_str().unwrap_or_default();
                assert!(text.ends_with('.'), "{name}.{field}: '{text}'");
                assert_eq!(about.get("default"), None, "{name}.{field}");
            }
        }
        let settings = &types["RunResult"]["properties"]["config"]["properties"];
        assert!(settings["gc"]["properties"]["victim"]["description"].is_string(), "{settings}");
    }

    #[test]
    fn a_field_that_a_result_always_has_is_required() {
        let schema = results();
        let required = |name: &str, field: &str| {
            let list = schema["$defs"][name]["required"].as_array().unwrap();
            list.iter().any(|one| one == field)
        };
        assert!(required("RunResult", "waf") && required("Workload", "prefix"));
        assert!(!required("RunResult", "probe") && !required("Workload", "passes"));
    }
}
