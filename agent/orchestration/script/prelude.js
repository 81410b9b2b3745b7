// What a workflow script may call. Runs before the script, in its realm: everything that it needs
// later is captured first, so that a script that overwrites built-ins changes only itself.
(() => {
  "use strict";
  const uncurry = (method) => Function.prototype.call.bind(method);
  const { stringify, parse } = JSON;
  const { freeze, keys } = Object;
  const { isArray } = Array;
  const text = String;
  const NativePromise = Promise, NativeError = Error, NativeMap = Map;
  const then = uncurry(Promise.prototype.then);
  const resolved = Promise.resolve.bind(Promise);
  const get = uncurry(Map.prototype.get), set = uncurry(Map.prototype.set);
  const remove = uncurry(Map.prototype.delete);
  const size = uncurry(Object.getOwnPropertyDescriptor(Map.prototype, "size").get);
  const push = uncurry(Array.prototype.push), wellFormed = uncurry(text.prototype.toWellFormed);

  const MAX_ITEMS = 4096;
  // Nothing that is sent inherits: a `toJSON` or a setter of the script is not looked at.
  const outbox = Object.setPrototypeOf([], null);
  const waiting = new NativeMap();
  const spent = { usd: 0, tokens: 0 };
  let total = { usd: null, tokens: null }, next = 1, currentPhase = "", ended = null;

  const post = (message) => push(outbox, stringify({ __proto__: null, ...message }));
  const reasonOf = (error) => {
    // What the engine throws where there is no memory for an error is null.
    if (error === null) return "null: the script threw it, or had no memory left for an error";
    try {
      return wellFormed(typeof error === "object" && "message" in error
        ? `${text(error.name || "Error")}: ${text(error.message)}` : text(error));
    } catch { return "an error that cannot be shown"; }
  };
  const noteLine = (line) => post({ kind: "log", payload: { __proto__: null, text: line } });
  const ask = (kind, payload) => {
    const id = next++;
    post({ id, kind, payload: { __proto__: null, ...payload } });
    return new NativePromise((accept, reject) => set(waiting, id, [accept, reject]));
  };
  const needsFunctions = (list, name) => {
    if (!isArray(list)) throw new TypeError(`${name} takes a list`);
    if (list.length > MAX_ITEMS) throw new RangeError(`${name} takes at most ${MAX_ITEMS} items`);
  };
  const all = (count, one) => new NativePromise((accept) => {
    const results = [];
    let left = count;
    for (let i = 0; i < count; i++) results[i] = null;
    if (left === 0) { accept(results); return; }
    for (let i = 0; i < count; i++) {
      const done = (value) => { results[i] = value === undefined ? null : value; if (--left === 0) accept(results); };
      then(one(i), done, (error) => { noteLine(`item ${i + 1}: ${reasonOf(error)}`); done(null); });
    }
  });

  // Tokens, as in other programs with this format, and dollars.
  const account = (unit) => ({
    get total() { return total[unit]; },
    spent: () => spent[unit],
    remaining: () => (total[unit] === null ? Infinity : total[unit] - spent[unit]),
  });

  const budget = account("tokens");
  budget.usd = freeze(account("usd"));
  freeze(budget);

  const api = {
    agent(prompt, options) {
      if (typeof prompt !== "string" || prompt === "") throw new TypeError("agent() takes a prompt, a text");
      const given = options === undefined || options === null ? {} : options;
      if (typeof given !== "object") throw new TypeError("the options of agent() are an object");
      return ask("agent", { prompt, options: { __proto__: null, phase: currentPhase, ...given } });
    },
    parallel(thunks) {
      needsFunctions(thunks, "parallel()");
      return all(thunks.length, async (i) => await thunks[i]());
    },
    pipeline(items, ...stages) {
      needsFunctions(items, "pipeline()");
      return all(items.length, async (i) => {
        let value = items[i];
        for (let n = 0; n < stages.length; n++) value = await stages[n](value, items[i], i);
        return value;
      });
    },
    verify(items, results) {
      needsFunctions(items, "verify()");
      return all(items.length, (i) => ask("verify", {
        task: text(items[i]),
        result: typeof results[i] === "string" ? results[i] : stringify(results[i] ?? null),
      }));
    },
    phase(title) {
      currentPhase = text(title);
      post({ kind: "phase", payload: { __proto__: null, title: currentPhase } });
    },
    log(...words) {
      let line = "";
      for (let i = 0; i < words.length; i++)
        line += (i ? " " : "") + (typeof words[i] === "string" ? words[i] : stringify(words[i]));
      noteLine(line);
    },
    workflow(name, args) {
      return ask("workflow", { name: text(name), args: args === undefined ? null : args });
    },
    budget,
    console: freeze({ log: (...w) => api.log(...w), error: (...w) => api.log(...w), warn: (...w) => api.log(...w) }),
  };

  const forbid = (what) => { throw new NativeError(`${what} would give another result on a resume; pass it in as args`); };
  const NativeDate = Date;
  const Calendar = function (...parts) {
    if (parts.length === 0) forbid("new Date() without a value");
    if (!new.target) forbid("Date()");
    return Reflect.construct(NativeDate, parts, new.target);
  };
  Calendar.prototype = NativeDate.prototype;
  NativeDate.prototype.constructor = Calendar;
  Calendar.UTC = NativeDate.UTC;
  Calendar.parse = NativeDate.parse;
  Calendar.now = () => forbid("Date.now()");
  globalThis.Date = Calendar;
  Math.random = () => forbid("Math.random()");
  // The clock, and what shows when garbage is collected or another thread runs.
  for (const name of ["performance", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics"])
    delete globalThis[name];

  const fail = (error) => { ended = { __proto__: null, error }; };
  const freezeDeep = (value) => {
    if (value !== null && typeof value === "object") {
      const names = keys(value);
      for (let i = 0; i < names.length; i++) freezeDeep(value[names[i]]);
      freeze(value);
    }
    return value;
  };

  const control = {
    __proto__: null,
    start(argsText, budgetText, makeScript) {
      const names = keys(api);
      for (let i = 0; i < names.length; i++)
        Object.defineProperty(globalThis, names[i], { value: api[names[i]], writable: false, configurable: false });
      Object.defineProperty(globalThis, "args", { value: freezeDeep(parse(argsText)), writable: false });
      const [usd, tokens] = parse(budgetText);
      total = { usd, tokens };
      let running;
      try { running = resolved(makeScript()); } catch (error) { fail(reasonOf(error)); return; }
      then(running, (value) => {
        try {
          ended = { __proto__: null, value: value === undefined ? "null" : stringify(value) ?? "null" };
        } catch (error) { fail(`the result is no JSON: ${reasonOf(error)}`); }
      }, (error) => fail(reasonOf(error)));
    },
    settle(id, ok, answer, usd, tokens) {
      spent.usd = usd;
      spent.tokens = tokens;
      const pair = get(waiting, id);
      if (pair === undefined) return;
      remove(waiting, id);
      if (ok) pair[0](parse(answer)); else pair[1](new NativeError(answer));
    },
    // One text out of `stringify`: the host cannot read texts that the engine has not joined yet.
    take() {
      const calls = stringify(outbox);
      outbox.length = 0;
      return calls;
    },
    state: () => (ended === null ? (size(waiting) === 0 ? "idle" : "waiting") : stringify(ended)),
  };
  return (what, ...values) => control[what](...values);
})()
