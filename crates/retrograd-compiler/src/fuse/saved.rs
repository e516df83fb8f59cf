//! Calls of routines, saved by name: an address means nothing to another process.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kernel::RoutineCall;
use crate::ir::{Attr, Attrs, Type};
use crate::ops;

/// A call in a file.
#[derive(Serialize, Deserialize)]
struct SavedCall {
    name: String,
    attrs: Vec<(String, Attr)>,
    args: Vec<Type>,
    result: Type,
    scratch: Vec<Type>,
}

impl Serialize for RoutineCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RoutineCall { routine, attrs, args, result, scratch } = self.clone();
        let known = ops::routines().find(|(_, known, _)| *known == routine);
        let (name, ..) = known.ok_or_else(|| S::Error::custom("a routine that is not in the table of ops"))?;
        let attrs = attrs.iter().map(|(name, attr)| ((*name).to_owned(), attr.clone())).collect();
        SavedCall { name: name.to_owned(), attrs, args, result, scratch }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RoutineCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RoutineCall, D::Error> {
        let SavedCall { name, attrs, args, result, scratch } = SavedCall::deserialize(deserializer)?;
        let found = ops::routines().find(|(known, ..)| *known == name);
        let (routine_name, routine, names) = found.ok_or_else(|| D::Error::custom(format!("`{name}` is no routine")))?;
        let mut known = Attrs::none();
        for (name, attr) in attrs {
            let name = names.iter().find(|known| **known == name);
            known = known.with(name.ok_or_else(|| D::Error::custom(format!("`{routine_name}` has other attributes")))?, attr);
        }
        Ok(RoutineCall { routine, attrs: known, args, result, scratch })
    }
}
