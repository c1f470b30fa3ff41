//! Commands that are wrong in themselves: names that nothing has, values that mean nothing.

use super::{Provoked, at_home, row, writes};

pub(super) const TABLE: &[Provoked] = &[
    row(
        &["call", "calculatr", "expression=1"],
        5,
        "`calculatr`",
        "unknown tool",
        "did you mean `builtin:calculator`",
    ),
    row(
        &["call", "calculator", "expresion=1"],
        1,
        "`expresion`",
        "unknown argument",
        "did you mean `expression`",
    ),
    row(&["call", "zzz"], 5, "`zzz`", "unknown tool", "see `toolroom tools --all`"),
    row(
        &["call", "calculator", "expression=1", "expression=2"],
        2,
        "`expression`",
        "is given twice",
        "give it once",
    ),
    row(
        &["call", "calculator", "expression:=oops"],
        2,
        "`expression:=`",
        "not valid JSON at line 1 column 1",
        "write JSON there, or text as key=text",
    ),
    row(&["call", "calculator", "2+2"], 2, "`2+2`", "is not an argument", "write key=value"),
    row(
        &["call", "calculator", "expression=1", "--timeout", "soon"],
        2,
        "--timeout",
        "unknown unit `soon`",
        "use ms, s, m, h or d",
    ),
    row(&["call", "--resume", "call_7"], 5, "`call_7`", "no waiting call", "see `toolroom approvals`"),
    row(&["call", "--later"], 2, "'--later'", "unexpected argument", "Usage: toolroom call"),
    row(
        &["tools", "disable", "memory_store"],
        3,
        "`builtin:memory_store`",
        "has no toggle of its own",
        "`toolroom switch on|off memory`",
    ),
    row(
        &["switch", "off", "memry"],
        5,
        "`memry`",
        "unknown feature",
        "known features: email, memory, scheduling",
    ),
    row(&["approvals", "show", "last"], 5, "approval", "no calls are waiting", "see `toolroom log`"),
    row(&["artifacts", "save", "art_7"], 5, "`art_7`", "no artifact", "see `toolroom artifacts list`"),
    row(&["log", "call_7"], 5, "`call_7`", "no call", "see `toolroom log`"),
    row(
        &["log", "--since", "yesterday"],
        2,
        "`yesterday`",
        "is not a span",
        "such as 2h or a date such as 2",
    ),
    row(&["log", "--status", "dne"], 2, "--status", "invalid value 'dne'", "a similar value exists: 'done'"),
    row(&["policy", "forget", "ans_7"], 5, "`ans_7`", "no standing answer", "see `toolroom policy list`"),
    row(&["secrets", "set", "bad name"], 2, "`bad name`", "is none", "1 to 140 letters, digits"),
    row(
        &["secrets", "set", "A", "b"],
        2,
        "values are never given on the command line",
        "other processes can read them there",
        "pipe it in (`… | toolroom secrets set NAME`)",
    ),
    row(&["secrets", "remove", "NOPE"], 5, "`NOPE`", "no secret", "see `toolroom secrets`"),
    row(
        &["config", "show", "polcy.preset"],
        5,
        "`polcy.preset`",
        "unknown configuration key",
        "did you mean `policy.preset`",
    ),
    row(&["--set", "nonsense", "config", "show"], 2, "--set", "`nonsense` is not", "`key=value`"),
    row(
        &["--set", "policy.preset=bold", "call", "calculator", "expression=1"],
        2,
        "`policy.preset`",
        "must be one of \"open\", \"balanced\", \"careful\", got \"bold\"",
        "`toolroom config check`",
    ),
    row(
        &["--set", "search.brave.key=abc", "call", "calculator", "expression=1"],
        2,
        "`search.brave.key`",
        "do not put the key itself here",
        "`secret:NAME` or `$VARIABLE`",
    ),
    row(
        &["--set", "tool.calculator.rate=often", "tools"],
        2,
        "`tool.calculator.rate`",
        "got \"often\"",
        "use `3/s`, `3/min`, `3/h` or `3/day`",
    ),
    row(
        &["trust"],
        5,
        "`toolroom.toml`",
        "in this folder or above",
        "create one with `toolroom init --project`",
    ),
    row(&["agents", "show", "nobody"], 5, "`nobody`", "there is no agent", "see `toolroom agents`"),
    row(
        &["agents", "set", "bad!id", "--iterations", "9"],
        2,
        "an agent's id",
        "not `bad!id`",
        "letters, digits, `_`, `-` and `.`",
    ),
    row(&["agents", "set", "cook", "--iterations", "0"], 2, "iterations", "not 0", "from 1 to 1000"),
    row(
        &["agents", "set", "cook", "--iterations", "9"],
        2,
        "the agent `cook`",
        "is written in the configuration, which goes before the database",
        "toolroom.toml:1",
    )
    .after(|home| writes(home, "toolroom.toml", "[agent.cook]\nprompt = \"You are a cook.\"\n")),
    row(
        &["chat", "--model", "openai/gpt-5", "hello"],
        2,
        "OpenAI",
        "needs a key",
        "set OPENAI_API_KEY, or store it with `toolroom secrets set openai`",
    ),
    row(
        &["chat", "--model", "nonsense", "hello"],
        2,
        "`nonsense`",
        "names no model",
        "write vendor and model, such as",
    ),
    row(
        &["chat", "--continue", "hello"],
        5,
        "conversation",
        "no conversation to continue yet",
        "leave out `--continue` to start one",
    ),
    row(
        &["chat", "what is this?", "--image", "none.png"],
        2,
        "--image",
        "no file `none.png`",
        "check its name, and the folder you are in",
    ),
    row(&["chat", ""], 2, "toolroom chat", "no message given", "or pipe in a message"),
    row(
        &["chat", "--continue", "and now?"],
        3,
        "`run_",
        "in this conversation is waiting for approval",
        "`toolroom runs cancel run_",
    )
    .after(|home| {
        at_home(home, &["chat", "--no-input", "/write_file path=a.txt content=hello"]).ended(4);
    }),
    row(&["runs", "resume", "last"], 3, "`run_", "is cancelled", "send a new message to go on").after(
        |home| {
            at_home(home, &["chat", "--no-input", "/write_file path=a.txt content=hello"]).ended(4);
            at_home(home, &["runs", "cancel", "last"]).ended(0);
        },
    ),
    row(
        &["models", "test", "nobody/x"],
        1,
        "`nobody`",
        "unknown vendor",
        "`[vendor.nobody] base_url = \"…\"`",
    ),
    row(&["memory", "forget", "nope"], 5, "`nope`", "no memory", "see `toolroom memory`"),
    row(
        &["projects", "create", "Bad Id"],
        2,
        "`Bad Id`",
        "is not a project id",
        "up to 64 lower-case letters, digits, `-` and `_`",
    ),
    row(
        &["projects", "create", "shop"],
        2,
        "`shop`",
        "already exists",
        "change it with `toolroom projects set`",
    )
    .after(|home| {
        at_home(home, &["projects", "create", "shop"]).ended(0);
    }),
    row(
        &["projects", "remove", "local"],
        3,
        "`local`",
        "is the project of this machine and cannot be removed",
        "`toolroom projects` lists the others",
    ),
    row(
        &["keys", "create", "--name", "a", "--project", "x"],
        5,
        "`x`",
        "no project",
        "see `toolroom projects`",
    ),
    row(
        &["keys", "create", "--name", "a", "--scope", "fly"],
        2,
        "--scope",
        "unknown scope `fly`",
        "scopes are read, call, chat",
    ),
    row(&["keys", "revoke", "nope"], 5, "`nope`", "there is no key", "see `toolroom keys`"),
    row(&["keys", "revoke", "till"], 2, "`till`", "several keys match", "use more of the id").after(|home| {
        at_home(home, &["keys", "create", "--name", "till"]).ended(0);
        at_home(home, &["keys", "create", "--name", "till"]).ended(0);
    }),
    row(&["mcp", "show", "nope"], 5, "`nope`", "unknown server", "see `toolroom mcp list`"),
    row(
        &["mcp", "add", "x", "--url", "ftp://example.com"],
        2,
        "`ftp`",
        "unsupported URL scheme",
        "use `https` or `http`",
    ),
    row(
        &["mcp", "add", "x", "--url", "https://ann:pass@example.com/mcp"],
        2,
        "the URL",
        "contains a password",
        "use `--header` with a secret",
    ),
    row(
        &[
            "mcp",
            "add",
            "x",
            "--url",
            "https://a.example",
            "--header",
            "authorization=abcdef1234567890abcdef",
        ],
        2,
        "`authorization`",
        "looks like a secret",
        "write `authorization=secret:NAME`",
    ),
    row(
        &["mcp", "add", "x", "--no-start", "--", "true"],
        2,
        "`x`",
        "exists already",
        "`--replace` replaces it",
    )
    .after(|home| {
        at_home(home, &["mcp", "add", "x", "--no-start", "--", "true"]).ended(0);
    }),
    row(
        &["mcp", "declare", "x", "--tool", "nope", "--effect", "read"],
        5,
        "`nope`",
        "the server `x` has no tool",
        "see `toolroom mcp show x`",
    )
    .after(|home| {
        at_home(home, &["mcp", "add", "x", "--no-start", "--", "true"]).ended(0);
    }),
    row(
        &["mcp", "config", "cursor", "--http", "nonsense"],
        2,
        "`nonsense`",
        "is not a valid URL",
        "write it like http://",
    ),
    row(&["mcp", "config", "emacs"], 2, "'emacs'", "invalid value", "[possible values: claude-code, "),
    row(
        &["sandbox", "--profile", "loose", "--", "true"],
        2,
        "`loose`",
        "there is no profile",
        "use `workspace`, `read-only`, `network:HOST[:PORT],…` or `off`",
    ),
    row(
        &["serve", "--listen", "nonsense"],
        2,
        "--listen",
        "expected an address and port",
        "such as 127.0.0.1:7300",
    ),
    row(&["prune"], 2, "toolroom prune", "no retention period is set", "set `[retention]`"),
    row(&["prune", "--journal", "often"], 2, "--journal", "unknown unit `often`", "use ms, s, m, h or d"),
];
