// A real client of AG-UI talks to a real server. What it is to say is named by the first argument.
//
//   node talk.mjs SCENARIO CLIENT URL COOKIE RECORD
//
// Any warning of the client is a failure, and so is a stream without an end. Every event goes into the file RECORD.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

const [scenario, version, url, cookie, record] = process.argv.slice(2);
const modern = version === "1.0.0";
const { HttpAgent } = await import(modern ? "@ag-ui/client" : "ag-ui-client-before");

for (const loud of ["warn", "error"]) {
  console[loud] = (...words) => {
    // That a server died is worth a word.
    if (scenario === "crash" && loud === "error") return;
    process.stderr.write(`the client says: ${words.map(String).join(" ")}\n`);
    process.exit(3);
  };
}

// It is said twice over, once to nobody in particular.
if (scenario === "crash") process.on("unhandledRejection", () => {});

const headers = { cookie, origin: url };

class Recorded extends HttpAgent {
  requestInit(input) {
    const init = super.requestInit(input);
    return { ...init, headers: { ...init.headers, ...headers } };
  }
}

// One conversation of one client.
class Talk {
  constructor(options = {}) {
    this.agent = new Recorded({ url: `${url}/agui/default`, threadId: randomUUID(), ...options });
    this.runs = [];
  }

  says(content) {
    this.agent.addMessage({ id: randomUUID(), role: "user", content });
    return this;
  }

  brings(toolCallId, content, error) {
    const failed = error === undefined ? {} : { error };
    this.agent.addMessage({ id: randomUUID(), role: "tool", toolCallId, content, ...failed });
    return this;
  }

  // One run; gives its events. It has to have an end.
  async run(input = {}) {
    const events = [];
    let error;
    try {
      await this.agent.runAgent(input, {
        onEvent: ({ event }) => {
          events.push(event);
          appendFileSync(record, `${JSON.stringify(event)}\n`);
        },
      });
    } catch (thrown) {
      error = thrown;
    }
    this.runs.push(events);
    const last = events.at(-1);
    assert.ok(last, `nothing came: ${error}`);
    assert.ok(["RUN_FINISHED", "RUN_ERROR"].includes(last.type), `the last event is ${last.type}: ${error}`);
    if (error && last.type !== "RUN_ERROR") throw error;
    return events;
  }

  async fails(code, input) {
    const last = (await this.run(input)).at(-1);
    assert.equal(last.type, "RUN_ERROR");
    assert.equal(last.code, code, last.message);
    return last;
  }

  last() {
    return this.agent.messages.filter((message) => message.role !== "activity").at(-1);
  }

  calls() {
    return this.agent.messages.flatMap((message) => message.toolCalls ?? []);
  }

  pending() {
    const answered = new Set(this.agent.messages.map((message) => message.toolCallId));
    return this.calls().filter((call) => !answered.has(call.id));
  }

  interrupts() {
    return this.agent.pendingInterrupts;
  }

  answer(payload, status = "resolved") {
    return { resume: this.interrupts().map(({ id }) => ({ interruptId: id, status, payload })) };
  }
}

const types = (events) => events.map((event) => event.type);
const of = (events, type) => events.filter((event) => event.type === type);
const end = (events) => events.at(-1);

const tools = [
  {
    name: "get_weather",
    description: "Weather on the client",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];

// Without a client: what is sent is what is written here.
async function post(body, agent = "default") {
  const response = await fetch(`${url}/agui/${agent}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) return { status: response.status, problem: JSON.parse(text) };
  assert.ok(!text.includes("\r"));
  const events = text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => JSON.parse(frame.slice(6)));
  return { status: response.status, events };
}

const finished = (events, outcome) => {
  const last = end(events);
  assert.equal(last.type, "RUN_FINISHED", JSON.stringify(last));
  if (modern || outcome === "interrupt") assert.equal(last.outcome.type, outcome);
  else assert.equal(last.outcome, undefined);
  return last;
};

const scenarios = {
  async words() {
    const talk = new Talk({ initialState: { items: 2 } });
    const events = await talk.says("Hello").run({
      context: [{ description: "page", value: "the cart" }],
      forwardedProps: { user: { name: "Ada" } },
    });
    const last = finished(events, "success");
    assert.equal(events[0].type, "RUN_STARTED");
    assert.equal(events[0].threadId, talk.agent.threadId);
    assert.equal(events[0].protocolVersion, modern ? "1.0" : undefined);
    const spans = ["REASONING_START", "REASONING_MESSAGE_CONTENT", "REASONING_END", "STEP_STARTED", "STEP_FINISHED"];
    for (const type of spans) assert.ok(types(events).includes(type), type);
    assert.equal(talk.last().content, "Hello, Ada.");
    assert.equal(talk.agent.messages.find((message) => message.role === "reasoning").content, "Who is it?");
    assert.equal(talk.agent.state.items, 2);
    assert.match(talk.agent.state.toolroom.run, /^run_/);
    assert.equal(talk.agent.state.toolroom.status, "");
    assert.equal(last.usage[0].inputTokens, 100);
    assert.equal(last.usage[0].totalTokens, 120);
    // The thread is kept, and what was said before is not said again.
    finished(await talk.says("And now?").run(), "success");
    assert.equal(talk.last().content, "Still here.");
    assert.equal(talk.agent.messages.filter((message) => message.role === "assistant").length, 2);
    // Nothing is new: nothing happens, and nothing is lost.
    const before = structuredClone(talk.agent.messages);
    finished(await talk.run(), "success");
    assert.deepEqual(talk.agent.messages, before);
  },

  async server_tool() {
    const talk = new Talk();
    const events = await talk.says("What is 17*23?").run();
    finished(events, "success");
    const [call] = talk.calls();
    assert.equal(call.function.name, "builtin:calculator");
    assert.deepEqual(JSON.parse(call.function.arguments), { expression: "17*23" });
    assert.match(of(events, "TOOL_CALL_RESULT")[0].content, /391/);
    assert.equal(of(events, "ACTIVITY_SNAPSHOT").length, 1);
    const activity = talk.agent.messages.find((message) => message.role === "activity");
    assert.equal(activity.content.calls[0].status, "done");
    assert.equal(talk.last().content, "It is 391.");
  },

  async client_tool() {
    const talk = new Talk();
    const last = finished(await talk.says("Weather in Oslo?").run({ tools }), "success");
    const [call] = talk.pending();
    if (modern) assert.deepEqual(last.outcome.pendingToolCallIds, [call.id]);
    assert.equal(call.function.name, "get_weather");
    assert.deepEqual(JSON.parse(call.function.arguments), { city: "Oslo" });
    finished(await talk.brings(call.id, "12 C in Oslo").run({ tools }), "success");
    assert.equal(talk.last().content, "It is 12 C in Oslo.");
    assert.equal(talk.agent.messages.filter((message) => message.role === "tool").length, 1);
    assert.deepEqual(talk.pending(), []);
  },

  async client_failure() {
    const talk = new Talk();
    await talk.says("Weather in Oslo?").run({ tools });
    finished(await talk.brings(talk.pending()[0].id, "", "the window was closed").run({ tools }), "success");
    assert.equal(talk.last().content, "I could not see it.");
  },

  async mixed() {
    const talk = new Talk();
    const events = await talk.says("Both").run({ tools });
    finished(events, "success");
    assert.deepEqual(talk.calls().map((call) => call.function.name).sort(), ["builtin:calculator", "get_weather", "get_weather"]);
    assert.equal(of(events, "TOOL_CALL_RESULT").length, 1);
    const [first, second] = ["Oslo", "Bergen"].map((city) =>
      talk.pending().find((call) => JSON.parse(call.function.arguments).city === city),
    );
    // In another order, and each in a run of its own that holds nothing else.
    const { threadId } = talk.agent;
    const alone = (id, content) =>
      post({ threadId, runId: "same", messages: [{ id: randomUUID(), role: "tool", toolCallId: id, content }] });
    const one = await alone(second.id, "two");
    assert.equal(end(one.events).type, "RUN_FINISHED");
    assert.equal(of(one.events, "TEXT_MESSAGE_CONTENT").length, 0);
    const two = await alone(first.id, "one");
    assert.equal(of(two.events, "TEXT_MESSAGE_CONTENT").map((event) => event.delta).join(""), "Both are done.");
    const again = await alone(first.id, "something else");
    assert.equal(end(again.events).type, "RUN_FINISHED");
    const kept = of(again.events, "MESSAGES_SNAPSHOT")[0].messages.filter(({ role }) => role === "tool");
    assert.deepEqual(kept.map(({ content }) => content).filter((content) => !content.includes("391")), ["one", "two"]);
    assert.equal(kept.length, 3);
  },

  async approve() {
    const talk = new Talk();
    const events = await talk.says("Calculate").run();
    finished(events, "interrupt");
    assert.deepEqual(types(events).slice(-3, -1), ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
    const [question] = talk.interrupts();
    assert.equal(question.reason, "tool_call");
    assert.equal(question.toolCallId, talk.calls()[0].id);
    assert.deepEqual(question.metadata.arguments, { expression: "17*23" });
    const answer = talk.answer({ approved: true });
    const resumed = await talk.run(answer);
    finished(resumed, "success");
    assert.equal(of(resumed, "TOOL_CALL_START").length, 0);
    assert.equal(of(resumed, "TOOL_CALL_RESULT")[0].toolCallId, question.toolCallId);
    assert.match(of(resumed, "TOOL_CALL_RESULT")[0].content, /391/);
    assert.equal(talk.last().content, "Good.");
    // The same answer again is safe, another one is none.
    const again = await talk.run(answer);
    finished(again, "success");
    assert.equal(of(again, "TOOL_CALL_RESULT").length, 0);
    answer.resume[0].payload = { approved: false };
    await talk.fails("already_answered", answer);
  },

  async deny() {
    const talk = new Talk();
    finished(await talk.says("Calculate").run(), "interrupt");
    const resumed = await talk.run(talk.answer({ approved: false }));
    finished(resumed, "success");
    assert.match(of(resumed, "TOOL_CALL_RESULT")[0].content, /denied/);
    assert.equal(talk.last().content, "Good.");
  },

  async edit() {
    const talk = new Talk();
    finished(await talk.says("Calculate").run(), "interrupt");
    const resumed = await talk.run(talk.answer({ approved: true, editedArgs: { expression: "2+2" } }));
    finished(resumed, "success");
    assert.match(of(resumed, "TOOL_CALL_RESULT")[0].content, /4/);
    assert.equal(talk.last().content, "Good.");
  },

  async rules() {
    const talk = new Talk();
    finished(await talk.says("Calculate both").run(), "interrupt");
    const { threadId, messages } = talk.agent;
    const ids = talk.interrupts().map(({ id }) => id);
    assert.equal(ids.length, 2);
    const send = async (resume, more = []) => {
      const sent = await post({ protocolVersion: "1.0", threadId, runId: randomUUID(), messages: [...messages, ...more], resume });
      return end(sent.events);
    };
    const yes = (interruptId) => ({ interruptId, status: "resolved", payload: { approved: true } });
    const said = { id: randomUUID(), role: "user", content: "never mind" };
    const refused = async (code, resume, more) => {
      const last = await send(resume, more);
      assert.equal(last.type, "RUN_ERROR", JSON.stringify(last));
      assert.equal(last.code, code);
    };
    await refused("interrupted", undefined);
    await refused("interrupted", [], [said]);
    await refused("incomplete_resume", [yes(ids[0])]);
    await refused("unknown_interrupt", [...ids.map(yes), yes("call_0")]);
    await refused("invalid_payload", [yes(ids[0]), { interruptId: ids[1], status: "resolved" }]);
    await refused("invalid_payload", [yes(ids[0]), { ...yes(ids[1]), payload: { approved: true, editedArgs: 3 } }]);
    // None of that has changed anything.
    const last = await send([yes(ids[0]), { interruptId: ids[1], status: "cancelled" }]);
    assert.equal(last.outcome.type, "cancelled");
    const replayed = await send([yes(ids[0]), { interruptId: ids[1], status: "cancelled" }]);
    assert.equal(replayed.outcome?.type, "cancelled", JSON.stringify(replayed));
    assert.equal((await send(undefined, [said])).type, "RUN_FINISHED");
  },

  async cancel() {
    const talk = new Talk();
    finished(await talk.says("Calculate").run(), "interrupt");
    const answer = talk.answer(undefined, "cancelled");
    if (modern) {
      assert.equal(end(await talk.run(answer)).outcome.type, "cancelled");
    } else {
      await talk.fails("cancelled", answer);
      talk.agent.pendingInterrupts = [];
    }
    finished(await talk.says("Something else").run(), "success");
    assert.equal(talk.last().content, "Good.");
  },

  async expiry() {
    const talk = new Talk();
    finished(await talk.says("Calculate").run(), "interrupt");
    const [question] = talk.interrupts();
    const { threadId, messages } = talk.agent;
    const send = (status) =>
      post({
        protocolVersion: "1.0", threadId, runId: "late", messages,
        resume: [{ interruptId: question.id, status, payload: { approved: true } }],
      });
    const left = Date.parse(question.expiresAt) - Date.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, left) + 20));
    assert.equal(end((await send("resolved")).events).code, "expired");
    const out = end((await send("cancelled")).events);
    assert.equal(out.outcome.type, "cancelled");
  },

  async operator() {
    const talk = new Talk();
    finished(await talk.says("Calculate").run(), "interrupt");
    const [question] = talk.interrupts();
    assert.equal(question.reason, "toolroom:operator");
    assert.equal(question.responseSchema, undefined);
    await talk.fails("operator", talk.answer({ approved: true }));
    process.stdout.write(`${question.id}\n`);
    // Whoever started us is the operator, and says when the answer is given.
    await new Promise((resolve) => process.stdin.once("data", resolve));
    process.stdin.destroy();
    const resumed = await talk.run(talk.answer({ approved: false }));
    finished(resumed, "success");
    assert.match(of(resumed, "TOOL_CALL_RESULT")[0].content, /391/, "the operator said yes, whatever the client says");
  },

  async client_tool_asked_about() {
    const talk = new Talk();
    const events = await talk.says("Weather in Oslo?").run({ tools });
    finished(events, "interrupt");
    assert.equal(of(events, "TOOL_CALL_START").length, 0, "nobody runs what is not allowed yet");
    assert.equal(talk.interrupts()[0].reason, "confirmation");
    const edited = { approved: true, editedArgs: { city: "Bergen" } };
    finished(await talk.run({ tools, ...talk.answer(edited) }), "success");
    const [call] = talk.pending();
    assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ["get_weather", { city: "Bergen" }]);
    finished(await talk.brings(call.id, "rain").run({ tools }), "success");
    assert.equal(talk.last().content, "Rain.");
  },

  async abort() {
    const talk = new Talk();
    talk.says("Talk for long");
    const events = [];
    await talk.agent
      .runAgent({}, {
        onEvent: ({ event }) => {
          events.push(event);
          if (event.type === "TEXT_MESSAGE_CONTENT") talk.agent.abortRun();
        },
      })
      .catch(() => {});
    assert.ok(types(events).includes("TEXT_MESSAGE_CONTENT"));
    // The run is cancelled soon, and the thread goes on.
    for (;;) {
      const runs = await (await fetch(`${url}/v1/runs`, { headers })).json();
      assert.equal(runs.runs.length, 1);
      if (runs.runs[0].state === "cancelled") break;
      assert.equal(runs.runs[0].state, "running");
    }
    finished(await talk.says("Be brief").run(), "success");
    assert.equal(talk.last().content, "Brief.");
  },

  async continues() {
    const talk = new Talk();
    talk.says("Be brief");
    await talk.agent
      .runAgent({}, { onEvent: ({ event }) => event.type === "RUN_STARTED" && talk.agent.abortRun() })
      .catch(() => {});
    for (;;) {
      const { runs } = await (await fetch(`${url}/v1/runs`, { headers })).json();
      if (runs[0].state === "done") break;
      assert.equal(runs[0].state, "running");
    }
    // Whoever comes back gets what was said meanwhile, and nothing is done again.
    finished(await talk.run(), "success");
    assert.equal(talk.last().content, "Brief.");
  },

  async void() {
    const talk = new Talk();
    const events = await talk.says("Hello").run();
    finished(events, "success");
    assert.ok(types(events).includes("MESSAGES_SNAPSHOT"));
    assert.deepEqual(talk.agent.messages.map((message) => message.content), ["Hello", "A whole answer."]);
  },

  async failure() {
    const talk = new Talk();
    await talk.says("Hello").fails("bad_request");
    // The same message again is another attempt.
    finished(await talk.run(), "success");
    assert.equal(talk.last().content, "Better now.");
  },

  async history() {
    const talk = new Talk({
      initialMessages: [
        { id: "s", role: "system", content: "Be kind." },
        { id: "a", role: "user", content: "My name is Ada." },
        { id: "b", role: "assistant", content: "Hello Ada." },
      ],
    });
    finished(await talk.says("What is my name?").run(), "success");
    assert.equal(talk.last().content, "Ada.");
    assert.equal(talk.agent.messages.length, 5);
  },

  async refusals() {
    const input = { threadId: "t", runId: "r", messages: [] };
    for (const [body, status, code, agent] of [
      ["{", 400, "bad_request"],
      [{ threadId: "t" }, 400, "bad_request"],
      [{ ...input, threadId: "" }, 400, "bad_request"],
      [{ ...input, messages: [{ id: "m", role: "wizard" }] }, 400, "bad_request"],
      [{ ...input, messages: [{ id: "m", role: "user", content: [{ type: "image", source: { type: "url", value: "http://127.0.0.1/" } }] }] }, 400, "bad_request"],
      [{ ...input, tools: [{ name: "a b" }] }, 400, "bad_request"],
      [{ ...input, messages: [{ id: "m", role: "user", content: "  " }] }, 400, "bad_request"],
      [input, 404, "not_found", "nobody"],
    ]) {
      const sent = await post(body, agent);
      assert.equal(sent.status, status, JSON.stringify(sent));
      assert.equal(sent.problem.code, code, JSON.stringify(sent));
    }
    assert.equal(end((await post({ ...input, resume: [{ interruptId: "x", status: "cancelled" }] })).events).code, "unknown_interrupt");
    const stranger = await fetch(`${url}/agui/default`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
    assert.equal(stranger.status, 401);
    const capabilities = await (await fetch(`${url}/agui/default/capabilities`, { headers })).json();
    assert.equal(capabilities.humanInTheLoop.approveWithEdits, true);
    assert.ok(capabilities.tools.items.some((tool) => tool.name === "builtin:calculator"));
  },

  async busy() {
    const talk = new Talk();
    talk.says("Talk for long");
    const first = talk.agent.runAgent({}, {}).catch(() => {});
    for (;;) {
      const runs = await (await fetch(`${url}/v1/runs`, { headers })).json();
      if (runs.runs.length === 1) break;
    }
    const said = { id: "u2", role: "user", content: "And another thing" };
    const second = await post({ threadId: talk.agent.threadId, runId: "r2", messages: [said] });
    assert.equal(second.status, 409);
    assert.equal(second.problem.code, "busy");
    talk.agent.abortRun();
    await first;
  },

  // The server dies in the middle of an answer. Whoever started us starts it again.
  async crash() {
    const talk = new Talk({ threadId: "survives" });
    const events = [];
    const said = { id: "u1", role: "user", content: "Hello" };
    talk.agent.addMessage(said);
    const first = talk.agent
      .runAgent({}, { onEvent: ({ event }) => (events.push(event), event.type === "TEXT_MESSAGE_CONTENT" && process.stdout.write("said\n")) })
      .catch(() => {});
    await first;
    assert.ok(types(events).includes("TEXT_MESSAGE_CONTENT"));
  },

  // The server is asked to end in the middle of an answer.
  async ending() {
    const talk = new Talk({ threadId: "survives" });
    talk.agent.addMessage({ id: "u1", role: "user", content: "Hello" });
    const events = [];
    await talk.agent
      .runAgent({}, { onEvent: ({ event }) => (events.push(event), event.type === "TEXT_MESSAGE_CONTENT" && process.stdout.write("said\n")) })
      .catch(() => {});
    assert.equal(end(events).type, "RUN_ERROR");
    assert.equal(end(events).code, "interrupted");
  },

  async after_crash() {
    const talk = new Talk({ threadId: "survives", initialMessages: [{ id: "u1", role: "user", content: "Hello" }] });
    finished(await talk.run(), "success");
    assert.equal(talk.last().content, "Here I am again.");
    finished(await talk.says("Goodbye").run(), "success");
    assert.equal(talk.last().content, "Goodbye.");
  },
};

await scenarios[scenario]();
