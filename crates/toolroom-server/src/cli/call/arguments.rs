//! Arguments of `toolroom call TOOL`: those the kernel parses, and `-`, which reads an object from stdin.

use serde_json::{Map, Value};
use toolroom::schema::{ArgumentWordError, ArgumentWords, argument_pair, parse_object};
use toolroom::tool::Arguments;

use crate::cli::console::exit::Usage;

/// Parses the arguments. Reads `stdin` only for a `-`.
pub(crate) fn arguments(
    words: &[String],
    schema: &Value,
    stdin: impl FnOnce() -> std::io::Result<String>,
) -> anyhow::Result<Arguments> {
    let mut arguments = ArgumentWords::new(schema);
    let mut stdin = Some(stdin);
    for word in words {
        let added = if word == "-" {
            let read = stdin.take().ok_or_else(|| Usage("`-` can be given only once".into()))?;
            let text = read().map_err(|error| Usage(format!("cannot read standard input: {error}")))?;
            arguments.object(parse_object(&text).map_err(|error| Usage(format!("standard input: {error}")))?)
        } else {
            arguments.word(word)
        };
        added.map_err(|error| match error {
            ArgumentWordError::NoArgument { .. } => Usage(format!("{error}, or - for stdin")),
            _ => Usage(error.to_string()),
        })?;
    }
    Ok(arguments.finish())
}

/// Whether a word looks like an argument.
pub(crate) fn is_argument(word: &str) -> bool {
    word == "-" || word.trim_start().starts_with('{') || word.contains('=')
}

/// Parses `--context`: `key=value` and `key:=JSON`, without a schema.
pub(crate) fn context(words: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut context = Map::new();
    for word in words {
        let (key, value) = argument_pair(word, &Value::Null)
            .map_err(|_| Usage(format!("--context: `{word}` is neither key=value nor key:=JSON")))?;
        if context.insert(key.to_owned(), value).is_some() {
            return Err(Usage(format!("--context: `{key}` is given twice")).into());
        }
    }
    Ok(context)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let schema = json!({"properties": {"text": {"type": "string"}, "count": {"type": "integer"}}});
        let stdin = || Ok(r#"{"text": "piped"}"#.to_owned());
        arguments(&words, &schema, stdin).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn a_dash_reads_standard_input() {
        assert_eq!(parse(&["-", "count=1"]), Ok(json!({"text": "piped", "count": 1})));
    }

    #[test]
    fn invalid_arguments_are_usage_errors() {
        let check = |words: &[&str], message: &str| {
            let error = parse(words).unwrap_err();
            assert!(error.contains(message), "{words:?}: {error}");
        };
        check(
            &["lonely"],
            "`lonely` is not an argument; write key=value, key:=JSON or a JSON object, or - for stdin",
        );
        check(&["-", "-"], "only once");
        check(&["-", "text=x"], "`text` is given twice");
        check(&["{broken"], "the JSON argument");
    }
}
