//! One event of the stream, as far as anything of it is looked at.
//!
//! Most bytes of a stream are the texts and outputs of items, and most of these say nothing
//! that counts: they are passed over without being copied, and what is taken is borrowed from
//! the line where it can be. As in a value of any kind, a field of an unexpected type counts as
//! absent, and of a duplicate key the last one counts: the program itself writes such lines.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// An event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event<'a> {
    /// For example `item.completed`.
    pub kind: Word<'a>,
    /// Of `thread.started`.
    pub thread_id: Word<'a>,
    /// Of `error`.
    pub message: Word<'a>,
    /// Of `turn.completed`.
    pub usage: Option<Value>,
    /// Of `turn.failed`; `None` if it is no object.
    pub error: Option<Item<'a>>,
    /// Of `item.…`; `None` if it is no object.
    pub item: Option<Item<'a>>,
}

/// What an event is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item<'a> {
    /// For example `command_execution`.
    pub kind: Word<'a>,
    /// Pairs a start with its end.
    pub id: Word<'a>,
    /// Of an error.
    pub message: Word<'a>,
    /// Of what the agent says.
    pub text: Word<'a>,
    /// The tool's name, where the kind of item does not tell.
    pub tool: Word<'a>,
    /// As printed.
    pub status: Word<'a>,
    /// Of a command.
    pub exit_code: Option<i64>,
}

/// A text; `None` if there is none, or something else.
pub type Word<'a> = Option<Cow<'a, str>>;

/// Keys that are looked at, in events and items alike.
enum Key {
    Type,
    ThreadId,
    Message,
    Usage,
    Error,
    Item,
    Id,
    Text,
    Tool,
    Status,
    ExitCode,
    Other,
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(match key {
            "type" => Key::Type,
            "thread_id" => Key::ThreadId,
            "message" => Key::Message,
            "usage" => Key::Usage,
            "error" => Key::Error,
            "item" => Key::Item,
            "id" => Key::Id,
            "text" => Key::Text,
            "tool" => Key::Tool,
            "status" => Key::Status,
            "exit_code" => Key::ExitCode,
            _ => Key::Other,
        })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event, an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event<'de>, A::Error> {
        let mut event = Event::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Type => event.kind = map.next_value::<Any<'de>>()?.text(),
                Key::ThreadId => event.thread_id = map.next_value::<Any<'de>>()?.text(),
                Key::Message => event.message = map.next_value::<Any<'de>>()?.text(),
                Key::Usage => event.usage = Some(map.next_value()?),
                Key::Error => event.error = map.next_value::<Any<'de>>()?.item(),
                Key::Item => event.item = map.next_value::<Any<'de>>()?.item(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(event)
    }
}

impl<'de> Deserialize<'de> for Event<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

/// A value of any kind, of which only these three are of use.
enum Any<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Item(Item<'a>),
    Other,
}

impl<'a> Any<'a> {
    fn text(self) -> Word<'a> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn integer(self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(number),
            _ => None,
        }
    }

    fn item(self) -> Option<Item<'a>> {
        match self {
            Self::Item(item) => Some(item),
            _ => None,
        }
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Any<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Any<'de>, E> {
        Ok(Any::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Any<'de>, E> {
        Ok(Any::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Any<'de>, E> {
        Ok(Any::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Any<'de>, E> {
        Ok(i64::try_from(number).map_or(Any::Other, Any::Integer))
    }

    fn visit_f64<E>(self, _number: f64) -> Result<Any<'de>, E> {
        Ok(Any::Other)
    }

    fn visit_bool<E>(self, _flag: bool) -> Result<Any<'de>, E> {
        Ok(Any::Other)
    }

    fn visit_unit<E>(self) -> Result<Any<'de>, E> {
        Ok(Any::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Any<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Any::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Any<'de>, A::Error> {
        let mut item = Item::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Type => item.kind = map.next_value::<Any<'de>>()?.text(),
                Key::Id => item.id = map.next_value::<Any<'de>>()?.text(),
                Key::Message => item.message = map.next_value::<Any<'de>>()?.text(),
                Key::Text => item.text = map.next_value::<Any<'de>>()?.text(),
                Key::Tool => item.tool = map.next_value::<Any<'de>>()?.text(),
                Key::Status => item.status = map.next_value::<Any<'de>>()?.text(),
                Key::ExitCode => item.exit_code = map.next_value::<Any<'de>>()?.integer(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Any::Item(item))
    }
}

impl<'de> Deserialize<'de> for Any<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(line: &str) -> Event<'_> {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn texts_are_borrowed_unless_they_hold_an_escape() {
        let event = read(r#"{"type":"item.completed","item":{"id":"a","text":"two\nlines"}}"#);
        assert!(matches!(event.kind, Some(Cow::Borrowed("item.completed"))));
        let item = event.item.unwrap();
        assert!(matches!(item.id, Some(Cow::Borrowed("a"))));
        assert_eq!(item.text.as_deref(), Some("two\nlines"));
    }

    #[test]
    fn a_field_of_another_type_is_absent_and_the_last_of_two_counts() {
        let event = read(
            r#"{"type":7,"message":["x",{"type":"y"}],"thread_id":"a","thread_id":"b",
                "item":"none","error":{"message":null,"exit_code":1.5,"status":{"id":"i"}}}"#,
        );
        assert_eq!((event.kind, event.message, event.item), (None, None, None));
        assert_eq!(event.thread_id.as_deref(), Some("b"));
        assert_eq!(event.error, Some(Item::default()));
        assert!(serde_json::from_str::<Event<'_>>("[]").is_err());
    }

    #[test]
    fn whatever_stands_in_a_recording_is_read_as_a_value_would_read_it() {
        let text = include_str!("../suite/completes/stdout.jsonl");
        for line in text.lines() {
            let (event, value) = (read(line), serde_json::from_str::<Value>(line).unwrap());
            let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
            let owned = |word: &Word<'_>| word.as_deref().map(str::to_owned);
            assert_eq!(owned(&event.kind), text(&value, "type"));
            assert_eq!(owned(&event.thread_id), text(&value, "thread_id"));
            let item = event.item.unwrap_or_default();
            for (key, word) in [
                ("type", &item.kind),
                ("id", &item.id),
                ("text", &item.text),
                ("status", &item.status),
            ] {
                assert_eq!(owned(word), text(&value["item"], key), "{line}");
            }
            assert_eq!(item.exit_code, value["item"]["exit_code"].as_i64());
        }
    }
}
