//! Cost of the kernel alone: the path of a call, its stations, schema, catalog and expressions. Nothing is stored, so no
//! figure depends on a disk.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock and its arguments")]

mod measure;
mod ticket;

use std::error::Error;
use std::future::ready;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use measure::{Bar, Measure, median, report};
use serde_json::{Map, Value, json};
use ticket::{Echo, MANY, echo, many_ids, many_tools, ticket, ticket_schema};
use tokio::runtime::{Builder, Runtime};
use toolroom::call::{CallContext, CallRequest};
use toolroom::catalog::{Audience, Catalog, WireNames};
use toolroom::clock::{SystemClock, Timestamp};
use toolroom::expression::{self, Expression};
use toolroom::ledger::{
    AnswerId, Answerer, Approvals, BeginCall, BeginError, CallFilter, CallId, CallRecord, CloseCall,
    DecideError, Decision, EditCall, Journal, Ledger, LedgerError, OpenQuestions, ParkCall, ParkError,
    Question, Standing, StandingAnswer, Switchboard, Switches, ToolUsage,
};
use toolroom::policy::{Answers, Facts, Policy, Preset, Provenance, Rule, Ruling, ToolChoice};
use toolroom::provenance::{Track, TrackChange, Tracks};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom::schema::{PatternRule, Schema, parse_object};
use toolroom::scope::{ProjectId, Scope};
use toolroom::tool::{Effect, NoArguments, ToolError, ToolSpec, tool_fn};
use toolroom::{BoxFuture, Toolroom};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let measure = Measure::from_arguments();
    limits(&measure)?;
    call_path(&measure)?;
    stations(&measure)?;
    results(&measure)?;
    schema(&measure)?;
    catalog(&measure)?;
    expressions(&measure)?;
    policy(&measure)?;
    redaction(&measure);
    Ok(())
}

/// The baseline: the libraries' building blocks without the kernel.
fn limits(measure: &Measure) -> Outcome {
    let text = ticket().to_string();
    measure.time("limit", "serde_json_text_to_value", Bar::NONE, || serde_json::from_str::<Value>(&text));
    let ticket = ticket();
    measure.time("limit", "serde_json_value_to_text", Bar::NONE, || ticket.to_string());
    measure.time("limit", "value_clone_and_drop", Bar::NONE, || ticket.clone());
    let options = jsonschema::options().should_validate_formats(false);
    let bare = options.with_pattern_options(jsonschema::PatternOptions::regex()).build(&ticket_schema())?;
    measure.time("limit", "jsonschema_is_valid", Bar::NONE, || bare.is_valid(&ticket));
    Ok(())
}

/// From the request to the report, without storage.
fn call_path(measure: &Measure) -> Outcome {
    let runtime = runtime()?;
    let bar = Bar::floor_and_aim(10.0, 5.0);
    let text = ticket().to_string();
    let arguments = parse_object(&text)?;
    let by_text = || CallRequest::new("open_ticket").arguments_text(text.as_str());
    let by_object = || CallRequest::new("open_ticket").arguments(arguments.clone());

    let memory = with_tools(Toolroom::in_memory())?;
    let without_ledger = with_tools(Toolroom::builder(Arc::new(NullLedger::default())).build())?;
    for (name, room) in [("in_memory", &memory), ("without_ledger", &without_ledger)] {
        let call = |request| runtime.block_on(room.call(request));
        assert!(call(by_text()).for_client().success && call(by_object()).for_client().success);
        measure.time_each("call_path", name, bar, by_object, call);
        measure.time_each("call_path", &format!("{name}_from_text"), bar, by_text, call);
        let no_arguments = || CallRequest::new("nothing");
        measure.time_each("call_path", &format!("{name}_no_arguments"), Bar::NONE, no_arguments, call);
        let invalid = || CallRequest::new("open_ticket").argument("customer", 5);
        measure.time_each("call_path", &format!("{name}_unfit_arguments"), Bar::NONE, invalid, call);
    }
    // Part of every figure above, but not of the kernel.
    measure.time("limit", "block_on_nothing", Bar::NONE, || runtime.block_on(async { black_box(1) }));
    measure.time("limit", "request_new_and_drop", Bar::NONE, || CallRequest::new("nothing"));
    Ok(())
}

/// Single stations, where the public API allows it.
fn stations(measure: &Measure) -> Outcome {
    let runtime = runtime()?;
    let room = with_tools(Toolroom::in_memory())?;
    measure.time("station", "fresh_id", Bar::NONE, || CallId::fresh(&SystemClock));
    let project = ProjectId::default();
    let find = |name: &'static str| room.catalog().find(black_box(&project), black_box(name));
    measure.time("station", "resolve_by_id", Bar::NONE, || find("app:open_ticket"));
    measure.time("station", "resolve_by_bare_name", Bar::NONE, || find("open_ticket"));

    let text = ticket().to_string();
    measure.time("station", "validate_parse_text", Bar::NONE, || parse_object(black_box(&text)));
    let schema = Schema::new(ticket_schema(), PatternRule::Refuse)?;
    let ticket = ticket();
    measure.time("station", "validate_check", Bar::NONE, || schema.check(black_box(&ticket)));

    let arguments = parse_object(&text)?;
    let request = || CallRequest::new("open_ticket").arguments(arguments.clone());
    let explain = |request| runtime.block_on(room.explain(request));
    measure.time_each("station", "resolve_validate_permit", Bar::NONE, request, explain);

    let (switches, context) = (Switches::default(), Map::new());
    let entry = find("app:open_ticket").map_err(|_| "the tool is there")?;
    let enabled = || room.catalog().check_enabled(entry.spec(), &switches, &context);
    measure.time("station", "permit_is_switched_on", Bar::NONE, enabled);
    Ok(())
}

/// The cost of shaping is the difference between a whole and a shortened result.
fn results(measure: &Measure) -> Outcome {
    let runtime = runtime()?;
    let rows: Vec<Value> =
        (0..1_000).map(|n| json!({"id": n, "name": format!("row {n}"), "text": "x".repeat(64)})).collect();
    let rows = Value::Array(rows);
    let text = Value::String("words and more words ".repeat(5_000));
    measure.time("limit", "value_clone_and_drop_100_kb", Bar::NONE, || rows.clone());
    for (name, value) in [("rows", rows), ("text", text)] {
        for (size, cap) in [("whole", usize::MAX), ("shortened", toolroom::tool::DEFAULT_RESULT_CAP)] {
            let (room, value) = (Toolroom::in_memory(), value.clone());
            let answer =
                move |_context: CallContext, _: NoArguments| ready(Ok::<_, ToolError>(value.clone()));
            room.catalog().register(tool_fn("app:answer", "Return a long result", answer)?.with(|spec| {
                let mut spec = spec.effect(Effect::Pure);
                spec.result_cap = cap;
                spec
            }))?;
            let request = || CallRequest::new("answer");
            let call = |request| runtime.block_on(room.call(request));
            measure.time_each("result_100_kb", &format!("{name}_{size}"), Bar::NONE, request, call);
        }
    }
    Ok(())
}

fn schema(measure: &Measure) -> Outcome {
    let fresh = || Schema::new(ticket_schema(), PatternRule::Refuse);
    let schema = fresh()?;
    let ticket = ticket();
    let invalid =
        json!({"customer": 5, "email": "none", "subject": "", "priority": "highest", "colour": "red"});
    assert!(schema.check(&ticket)?.is_empty() && schema.check(&invalid)?.len() == 5);
    let mut one_problem = parse_object(&ticket.to_string())?;
    one_problem.insert("priority".to_owned(), "highest".into());
    let one_problem = Value::Object(one_problem);
    measure.time("schema", "check_valid", Bar::floor_and_aim(3.0, 1.0), || schema.check(black_box(&ticket)));
    let bar = Bar::floor_and_aim(3.0, 2.0);
    measure.time("schema", "check_one_problem", bar, || schema.check(black_box(&one_problem)));
    measure.time("schema", "check_five_problems", Bar::NONE, || schema.check(black_box(&invalid)));
    let compile =
        |schema: Result<Schema, _>| schema.and_then(|schema: Schema| schema.check(&ticket).map(|_| schema));
    measure.time_each("schema", "compile", Bar::aim(200.0), fresh, compile);
    let parameters = Arc::new(ticket_schema());
    let register = |parameters: Arc<Value>| Schema::new(parameters, PatternRule::Refuse);
    measure.time_each("schema", "wellformed", Bar::NONE, || Arc::clone(&parameters), register);
    Ok(())
}

fn catalog(measure: &Measure) -> Outcome {
    let ids = many_ids();
    measure.time("catalog", "wire_names_1000", Bar::NONE, || WireNames::new(ids.iter().map(String::as_str)));

    let tools = || many_tools().unwrap_or_default();
    let register = |tools| {
        let catalog = Catalog::default();
        catalog.register_all(None, tools).map(|()| catalog)
    };
    assert_eq!(register(tools())?.list(&ProjectId::default()).len(), MANY);
    measure.time("limit", "define_1000_tools", Bar::NONE, tools);
    measure.time_each("catalog", "register_1000", Bar::NONE, tools, register);

    let catalog = register(tools())?;
    let (project, switches, context) = (ProjectId::default(), Switches::default(), Map::new());
    let offer = || catalog.offer(&project, &switches, &context, Audience::Full, &ToolChoice::default());
    measure.time("catalog", "offer_1000", Bar::NONE, offer);
    measure
        .time("catalog", "find_among_1000", Bar::NONE, || catalog.find(&project, "mcp:server7:list_invoice"));
    let mistyped = || catalog.find(&project, black_box("server7:lsit_invoice"));
    assert!(mistyped().is_err_and(|missing| !missing.nearest.is_empty()));
    measure.time("catalog", "nearest_among_1000", Bar::NONE, mistyped);
    Ok(())
}

fn expressions(measure: &Measure) -> Outcome {
    let sum = || expression::evaluate(black_box("2 + 2 * 3"), &());
    measure.time("expression", "parse_and_evaluate_sum", Bar::NONE, sum);
    let text = "tool in ['shell', 'file_write'] and (starts_with(args.path, '/etc/') or args.amount > 1000) \
                and not (user.role == 'admin')";
    let facts = json!({
        "tool": "file_write",
        "args": {"path": "/home/ann/notes.txt", "amount": 1500},
        "user": {"role": "member", "name": "ann"},
    });
    measure.time("expression", "parse_rule", Bar::NONE, || Expression::parse(black_box(text)));
    let rule = Expression::parse(text)?;
    assert!(rule.holds(&facts)?);
    measure.time("expression", "evaluate_rule", Bar::NONE, || rule.holds(black_box(&facts)));
    Ok(())
}

/// Verdicts with many rules and many standing answers.
fn policy(measure: &Measure) -> Outcome {
    let spec = ToolSpec::new("app:open_ticket", "Open a ticket")?.effect(Effect::OnceOnlyWrite);
    let (ticket, scope) = (parse_object(&ticket().to_string())?, Scope::user("local", "ann"));
    let facts = Facts {
        spec: &spec.capabilities(&[]),
        arguments: &ticket,
        scope: &scope,
        entrance: "cli",
        thread: Some("t1"),
        provenance: Provenance::NONE,
        origin: None,
        destination: None,
        definition: "d1",
    };
    let policy = Policy::new(Preset::Balanced, many_rules()?)?;
    let (none, answers) = (Answers::default(), Answers::new(many_answers()));
    assert_eq!(policy.verdict(&facts, &none).ruling, Ruling::Ask);
    assert_eq!(policy.verdict(&facts, &answers).ruling, Ruling::Allow);
    let (empty, bar) = (Policy::default(), Bar::aim(2.0));
    let verdict = |policy: &Policy, answers: &Answers| policy.verdict(black_box(&facts), answers);
    measure.time("policy", "verdict_without_rules", Bar::NONE, || verdict(&empty, &none));
    measure.time("policy", "verdict_100_rules", bar, || verdict(&policy, &none));
    measure.time("policy", "verdict_100_rules_100_answers", bar, || verdict(&policy, &answers));
    measure.time("policy", "trace_100_rules_100_answers", Bar::NONE, || policy.trace(&facts, &answers));
    Ok(())
}

/// 80 rules for other tools, 20 that match the ticket; 5 of those have a condition, 5 ask and 10 allow.
fn many_rules() -> Result<Vec<Rule>, Box<dyn Error>> {
    let conditions = [
        ("deny", "args.priority == 'none' or len(args.subject) > 500"),
        ("deny", "not contains(args.email, '@')"),
        ("ask", "caller.user == 'bob' and args.customer != null"),
        ("ask", "provenance.untrusted and args.priority == 'high'"),
        ("allow", "tool.risk == 'low' and starts_with(args.customer, 'C-')"),
    ];
    let patterns = ["*", "app:*", "*_ticket", "app:open_?icket", "open_ticket"];
    let mut rules = Vec::new();
    for (n, id) in many_ids().iter().take(80).enumerate() {
        rules.push(json!({"id": format!("other{n}"), "effect": "deny", "tool": id}));
    }
    for (n, pattern) in patterns.iter().cycle().take(15).enumerate() {
        let effect = if n < 5 { "ask" } else { "allow" };
        rules.push(json!({"id": format!("fits{n}"), "effect": effect, "tool": pattern}));
    }
    for (n, (effect, when)) in conditions.iter().enumerate() {
        rules.push(json!({"id": format!("when{n}"), "effect": effect, "tool": "app:*", "when": when}));
    }
    rules.into_iter().map(|text| Ok(Rule::new(serde_json::from_value(text)?)?)).collect()
}

/// 80 answers for other tools, 20 for the ticket; 5 of those lift a question and have a condition.
fn many_answers() -> Vec<StandingAnswer> {
    let ids = many_ids().into_iter().take(80).chain(std::iter::repeat_n("app:open_ticket".to_owned(), 20));
    let answer = |(n, tool): (usize, String)| StandingAnswer {
        id: AnswerId::new(&format!("ans_{n}")),
        scope: Scope::project("local"),
        effect: Ruling::Allow,
        tool: tool.into(),
        when: (n % 20 < 5).then(|| "starts_with(args.customer, 'C-')".to_owned()),
        lifts: Some(format!("fits{}", n % 20)),
        definition: Some("d1".into()),
        thread: None,
        destination: None,
        call: CallId::new("call_1"),
        by: Answerer::Caller,
        at: Timestamp::from_micros(0),
    };
    ids.enumerate().map(answer).collect()
}

/// The cost of redaction for every result, row and chunk.
fn redaction(measure: &Measure) {
    let texts = [
        include_str!("../../../ARCHITECTURE.md"),
        include_str!("../../../Cargo.lock"),
        include_str!("../src/call/record.rs"),
        include_str!("../src/schema/message.rs"),
    ];
    // Long enough to defeat the branch predictor.
    let ordinary = texts.concat().repeat(10);
    let secrets = |count: usize| {
        let value = |n: usize| format!("{:016x}/{n}\"{:016x}", n * 0x9e37_79b9, n * 0x85eb_ca6b);
        (0..count).map(move |n| Secret::new(format!("SECRET_{n}"), value(n)))
    };
    let patterns = Redactor::default();
    let stored = Redactor::new(secrets(50), Patterns::All);
    for (case, redactor, bar) in [
        ("patterns", &patterns, Bar::floor_and_aim(500.0, 1_000.0)),
        ("50_secrets", &stored, Bar::floor_and_aim(300.0, 500.0)),
    ] {
        assert_eq!(redactor.redact_text(&ordinary), ordinary);
        throughput(measure, case, bar, ordinary.len(), || redactor.redact_text(black_box(&ordinary)));
        let escaped = Value::from(ordinary.as_str()).to_string();
        let case = format!("{case}_escaped_text");
        throughput(measure, &case, Bar::NONE, escaped.len(), || redactor.redact_text(black_box(&escaped)));
    }
    let result = json!({"rows": [{"id": 17, "name": "Ann Example", "mail": "ann@example.com"}, {"id": 18, "name":
        "Bob Example", "mail": "bob@example.com"}], "next": "/v1/customers?after=18", "took": "12 ms", "total": 2});
    let text = result.to_string();
    let aim = Bar::aim(0.25);
    measure.time("redact", "text_of_200_bytes", aim, || patterns.redact_text(black_box(&text)).len());
    measure.time("redact", "text_of_200_bytes_50_secrets", Bar::NONE, || {
        stored.redact_text(black_box(&text)).len()
    });
    let values = [("patterns", &patterns), ("50_secrets", &stored)];
    for (case, redactor) in values {
        let redact = |mut value: Value| {
            redactor.redact_value(&mut value);
            value
        };
        measure.time_each(
            "redact",
            &format!("value_of_200_bytes_{case}"),
            Bar::NONE,
            || result.clone(),
            redact,
        );
    }
    measure.time("redact", "redactor_of_50_secrets", Bar::NONE, || Redactor::new(secrets(50), Patterns::All));
}

/// Reports megabytes per second.
fn throughput<T>(measure: &Measure, case: &str, bar: Bar, bytes: usize, mut work: impl FnMut() -> T) {
    const ROUNDS: usize = 21;
    if !measure.selects("redact", case) {
        return;
    }
    let mut round = || {
        let start = Instant::now();
        black_box(work());
        bytes as f64 / start.elapsed().as_secs_f64() / 1e6
    };
    let mut rates: Vec<f64> = std::iter::repeat_with(&mut round).take(ROUNDS).collect();
    report("redact", case, median(&mut rates), "MB/s", bar, ROUNDS);
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

fn with_tools(room: Toolroom) -> Result<Toolroom, Box<dyn Error>> {
    room.catalog().register(echo("app:open_ticket", Effect::Pure)?)?;
    room.catalog().register(Echo(ToolSpec::new("app:nothing", "Do nothing")?.effect(Effect::Pure)))?;
    Ok(room)
}

/// A ledger that stores nothing, so that only the kernel is measured.
#[derive(Default)]
struct NullLedger {
    standing: Arc<Standing>,
}

impl Ledger for NullLedger {
    fn begin(&self, _begin: BeginCall) -> BoxFuture<'static, Result<(), BeginError>> {
        Box::pin(ready(Ok(())))
    }

    fn park(&self, _park: ParkCall) -> BoxFuture<'static, Result<(), ParkError>> {
        Box::pin(ready(Ok(())))
    }

    fn decide(&self, _decision: Decision) -> BoxFuture<'static, Result<(), DecideError>> {
        Box::pin(ready(Ok(())))
    }

    fn edit(&self, _edit: EditCall) -> BoxFuture<'static, Result<(), DecideError>> {
        Box::pin(ready(Ok(())))
    }

    fn close(&self, _close: CloseCall) -> BoxFuture<'static, Result<(), LedgerError>> {
        Box::pin(ready(Ok(())))
    }
}

impl Journal for NullLedger {
    fn calls<'a>(
        &'a self,
        _scope: &'a Scope,
        _filter: CallFilter,
    ) -> BoxFuture<'a, Result<Vec<CallRecord>, LedgerError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn call<'a>(
        &'a self,
        _scope: &'a Scope,
        _id: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, LedgerError>> {
        Box::pin(ready(Ok(None)))
    }

    fn usage<'a>(&'a self, _scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolUsage>, LedgerError>> {
        Box::pin(ready(Ok(Vec::new())))
    }
}

impl Approvals for NullLedger {
    fn questions<'a>(&'a self, _scope: &'a Scope) -> BoxFuture<'a, Result<OpenQuestions, LedgerError>> {
        Box::pin(ready(Ok(OpenQuestions::default())))
    }

    fn question<'a>(
        &'a self,
        _scope: &'a Scope,
        _call: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<Question>, LedgerError>> {
        Box::pin(ready(Ok(None)))
    }
}

impl Tracks for NullLedger {
    fn track<'a>(
        &'a self,
        _scope: &'a Scope,
        _name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Track>, LedgerError>> {
        Box::pin(ready(Ok(None)))
    }

    fn add_to_track(&self, _change: TrackChange) -> BoxFuture<'static, Result<(), LedgerError>> {
        Box::pin(ready(Ok(())))
    }
}

impl Switchboard for NullLedger {
    fn standing<'a>(&'a self, _project: &'a ProjectId) -> BoxFuture<'a, Result<Arc<Standing>, LedgerError>> {
        Box::pin(ready(Ok(Arc::clone(&self.standing))))
    }
}
