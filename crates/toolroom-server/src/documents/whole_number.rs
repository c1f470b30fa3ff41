//! Deserializes whole numbers, including `60.0`.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// Deserializes an optional whole number.
pub(crate) fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    // A float without a fraction prints as digits.
    let written = || number.as_f64().and_then(|float| float.to_string().parse().ok());
    let whole = number.as_u64().or_else(written);
    whole.map(Some).ok_or_else(|| Error::custom(format!("`{number}` is not a whole number of 0 or more")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_number_is_whole_if_it_has_no_fraction() {
        for (number, read) in [(json!(null), None), (json!(60), Some(60)), (json!(60.0), Some(60))] {
            assert_eq!(whole_number(number).unwrap(), read);
        }
        assert_eq!(whole_number(json!(u64::MAX)).unwrap(), Some(u64::MAX));
        for number in [json!(0.5), json!(-1), json!(-1.0), json!(1e300), json!("1"), Value::Bool(true)] {
            assert!(whole_number(&number).is_err(), "{number}");
        }
    }
}
