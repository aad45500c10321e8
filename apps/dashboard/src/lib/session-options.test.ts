import { afterEach, expect, it, vi } from "vitest";
import { noOptions, optionOf, problemsOf, requestOf, storedOptions, storeOptions, textOf } from "./session-options.ts";

afterEach(() => vi.unstubAllGlobals());

function stubStorage(text: string | null = null): { text: string | null } {
  const stored = { text };
  vi.stubGlobal("localStorage", {
    getItem: () => stored.text,
    setItem: (_: string, value: string) => {
      stored.text = value;
    },
  });
  return stored;
}

it("a request without options leaves every choice to the daemon", () => {
  expect(requestOf({ ...noOptions, folder: "  ", tokens: " " })).toEqual({});
});

it("a request has each option that is set, and numbers for the budget", () => {
  const options = { folder: " /srv/app ", team: "news", agent: "news_writer", model: "large" };
  const budget = { tokens: "20000", costUsd: "0.5", toolCalls: "7", spawns: " 3 " };
  expect(requestOf({ ...options, ...budget })).toEqual({
    workspace: "/srv/app",
    team: "news",
    agent: "news_writer",
    model: "large",
    budget: { tokens: 20_000, costUsd: 0.5, toolCalls: 7, spawns: 3 },
  });
});

it.each(["0", "-1", "1.5", "1e3", "20,000", "many", "9007199254740993"])("%s is not a number of tokens", (tokens) => {
  expect(Object.keys(problemsOf({ ...noOptions, tokens }))).toEqual(["tokens"]);
});

it.each(["0", "0.00", "-1", "0,5", "$1", "."])("%s is not an amount of money", (costUsd) => {
  expect(Object.keys(problemsOf({ ...noOptions, costUsd }))).toEqual(["costUsd"]);
});

it.each(["1", "0.05", ".5", "2."])("%s is an amount of money", (costUsd) => {
  expect(problemsOf({ ...noOptions, costUsd, toolCalls: "1", spawns: "1" })).toEqual({});
});

const refusal = { httpStatus: 400, fix: null };

it.each([
  ["folder", "USAGE", 'the workspace "/none" does not exist'],
  ["tokens", "USAGE", "the token budget of 1 tokens is too small"],
  ["costUsd", "USAGE", "the cost budget of $0.01 is too small"],
  ["model", "UNKNOWN_MODEL", 'no model is called "x"'],
  ["team", "UNKNOWN_TEAM", "no team"],
] as const)("a refusal of the %s belongs to its field, unless the field is empty", (name, code, message) => {
  expect(optionOf({ ...refusal, code, message }, { ...noOptions, [name]: "1" })).toBe(name);
  expect(optionOf({ ...refusal, code, message }, noOptions)).toBeNull();
});

it("a fix for the command line is left out", () => {
  expect(textOf({ ...refusal, message: "too small", fix: 'troupe run "…" --max-tokens 9' })).toBe("too small.");
  expect(textOf({ ...refusal, message: "no model", fix: "did you mean large?" })).toBe("no model. did you mean large?");
});

it("the next session has the options of the last one, without its budget", () => {
  stubStorage();
  const next = storeOptions({ ...noOptions, folder: " /srv/app", model: "large", tokens: "20000" });
  expect(next).toEqual({ ...noOptions, folder: "/srv/app", model: "large" });
  expect(storedOptions()).toEqual(next);
});

it.each(["null", "[1]", "{", '{"folder":7,"tokens":"9"}'])(
  "stored text that no version wrote is ignored: %s",
  (text) => {
    stubStorage(text);
    expect(storedOptions()).toEqual(noOptions);
  },
);
