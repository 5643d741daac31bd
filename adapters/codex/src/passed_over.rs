//! A value that nobody looks at.
//!
//! `serde::de::IgnoredAny` does the same, but `serde_json` then goes through texts byte by byte,
//! where texts that are read are gone through eight bytes at a time; and texts that nobody looks
//! at are most of what there is.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Read, checked, and gone.
pub struct PassedOver;

impl<'de> Deserialize<'de> for PassedOver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for PassedOver {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _flag: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _number: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _number: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _number: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _text: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_json_is_passed_over_and_nothing_else() {
        let json = r#"{"a":[1,-2,3.5,null,true,{"b":"\u00e4\n"}],"c":{}}"#;
        assert!(serde_json::from_str::<PassedOver>(json).is_ok());
        for cut in 1..json.len() {
            assert!(serde_json::from_str::<PassedOver>(&json[..cut]).is_err());
        }
        assert!(serde_json::from_slice::<PassedOver>(b"\"\xff\"").is_err());
    }
}
