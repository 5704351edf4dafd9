//! JSON values read as what they should be, with errors that name the place.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::error::{DocumentError, ValueError};

/// A JSON object whose fields are read by name. `null` is the same as absent.
pub(super) struct Object<'a> {
    map: &'a Map<String, Value>,
    place: String,
}

impl<'a> Object<'a> {
    /// The document itself.
    pub(super) fn new(map: &'a Map<String, Value>) -> Self {
        Self { map, place: String::new() }
    }

    /// The object in `value`, which stands at `place`.
    pub(super) fn at(value: &'a Value, place: &str) -> Result<Self, DocumentError> {
        let Value::Object(map) = value else { return Err(mismatch(place, "an object", value)) };
        Ok(Self { map, place: format!("{place}.") })
    }

    /// The names of its fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.map.keys().map(String::as_str)
    }

    /// A field of any kind.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Where the field stands in the document.
    pub(super) fn place(&self, name: &str) -> String {
        format!("{}{name}", self.place)
    }

    /// A string.
    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, DocumentError> {
        self.value(name).map(|value| text(value, &self.place(name))).transpose()
    }

    /// A list of strings; empty when absent.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, DocumentError> {
        self.value(name).map_or_else(|| Ok(Vec::new()), |value| texts(value, &self.place(name)))
    }

    /// A truth value.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, DocumentError> {
        let read = |value: &Value| value.as_bool().ok_or_else(|| mismatch(&self.place(name), "true or false", value));
        self.value(name).map(read).transpose()
    }

    /// A number of things.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, DocumentError> {
        let expected = "a whole number that is not negative";
        let read = |value: &Value| value.as_u64().ok_or_else(|| mismatch(&self.place(name), expected, value));
        self.value(name).map(read).transpose()
    }

    /// An object.
    pub(super) fn object(&self, name: &str) -> Result<Option<Self>, DocumentError> {
        self.value(name).map(|value| Self::at(value, &self.place(name))).transpose()
    }

    /// A string that has a meaning.
    pub(super) fn parsed<T>(&self, name: &'static str) -> Result<Option<T>, DocumentError>
    where
        T: FromStr,
        ValueError: From<T::Err>,
    {
        self.text(name)?.map(|text| parsed(text, name)).transpose()
    }

    /// A string that has a meaning and that every document has.
    pub(super) fn required<T>(&self, name: &'static str) -> Result<T, DocumentError>
    where
        T: FromStr,
        ValueError: From<T::Err>,
    {
        self.parsed(name)?.ok_or(DocumentError::Missing { field: name })
    }
}

/// The meaning of a text that stands in this field.
pub(super) fn parsed<T>(text: &str, field: &'static str) -> Result<T, DocumentError>
where
    T: FromStr,
    ValueError: From<T::Err>,
{
    text.parse().map_err(|error: T::Err| DocumentError::Value { field, source: error.into() })
}

/// A truth value that stands as text in this field.
pub(super) fn truth(text: &str, field: &'static str) -> Result<bool, DocumentError> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => Err(malformed(text, field, "true or false")),
    }
}

/// The error that says what a text should have been.
pub(super) fn malformed(text: &str, field: &'static str, expected: &'static str) -> DocumentError {
    DocumentError::Value { field, source: ValueError::Form { found: text.into(), expected } }
}

/// The string at this place.
pub(super) fn text<'a>(value: &'a Value, place: &str) -> Result<&'a str, DocumentError> {
    value.as_str().ok_or_else(|| mismatch(place, "a string", value))
}

/// The list at this place.
pub(super) fn list<'a>(value: &'a Value, place: &str) -> Result<&'a [Value], DocumentError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| mismatch(place, "a list", value))
}

/// The list of strings at this place.
pub(super) fn texts(value: &Value, place: &str) -> Result<Vec<String>, DocumentError> {
    let Value::Array(entries) = value else {
        return Err(mismatch(place, "a list of strings", value));
    };
    let entry = |(at, entry): (usize, &Value)| text(entry, &format!("{place}[{at}]")).map(str::to_owned);
    entries.iter().enumerate().map(entry).collect()
}

/// The error that says which kind of value stands where another belongs.
pub(super) fn mismatch(place: &str, expected: &'static str, found: &Value) -> DocumentError {
    DocumentError::Type { field: place.into(), expected, found: kind_of(found) }
}

/// The kind of a value, in words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
