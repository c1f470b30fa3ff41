// Shows a key with every request of the program that this is loaded into: the suite has no option for one.
const key = process.env.TOOLROOM_KEY;
const own = new URL(process.env.TOOLROOM_URL).origin;
const symbols = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map((name) => Symbol.for(name));
await import("undici");
await fetch("data:,").catch(() => {});
for (const symbol of symbols) {
  const dispatcher = globalThis[symbol];
  if (!dispatcher) continue;
  const dispatch = dispatcher.dispatch.bind(dispatcher);
  dispatcher.dispatch = (options, handler) => {
    if (String(options.origin) !== own) return dispatch(options, handler);
    const headers = options.headers ?? {};
    const authorization = `Bearer ${key}`;
    const shown = Array.isArray(headers)
      ? [...headers, "authorization", authorization]
      : typeof headers[Symbol.iterator] === "function"
        ? [...[...headers].flat(), "authorization", authorization]
        : { ...headers, authorization };
    return dispatch({ ...options, headers: shown }, handler);
  };
}
