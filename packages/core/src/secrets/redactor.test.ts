/** A secret is redacted in any encoding and at any split; other text passes. */
import fc from "fast-check";
import { describe, expect, inject, it, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const value = 's3cr3t/with+odd "chars"\\&é';
const named = (...values: string[]) => values.map((each, i) => ({ name: `KEY_${i}`, value: each }));
const redactor = createRedactor({
  values: [
    { name: "SHOP_KEY", value },
    { name: "HORSE", value: "correct-horse" },
  ],
});
const mark = "[redacted: SHOP_KEY]";

/** Every byte as `%XX`. */
const percentEncoded = (text: string): string => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join("");
/** Every code unit in a form of its own, from its four hex digits. */
const unitsOf = (text: string, form: (code: string) => string): string =>
  text
    .split("")
    .map((unit) => form(unit.charCodeAt(0).toString(16).padStart(4, "0")))
    .join("");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a secret is found", () => {
  it.each<[string, string, string]>([
    ["unchanged", `key=${value};`, `key=${mark};`],
    ["twice", `${value}${value}`, `${mark}${mark}`],
    ["as JSON", JSON.stringify({ value }), `{"value":"${mark}"}`],
    ["as JSON within JSON", JSON.stringify(JSON.stringify(value)), `"\\"${mark}\\""`],
    ["as JSON in ASCII", `"s3cr3t/with+odd \\"chars\\"\\\\&\\u00e9"`, `"${mark}"`],
    ["as a part of a URL", `?q=${encodeURIComponent(value)}&x`, `?q=${mark}&x`],
    ["as a field of a form", new URLSearchParams({ value }).toString(), `value=${mark}`],
    ["with lower-case codes", encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()), mark],
    ["in HTML", `<b>s3cr3t/with+odd &quot;chars&quot;\\&amp;é</b>`, `<b>${mark}</b>`],
    ["in hex", Buffer.from(value).toString("hex"), mark],
    ["in capital hex", Buffer.from(value).toString("hex").toUpperCase(), mark],
    [
      "in hex with colons",
      Buffer.from(value)
        .toString("hex")
        .replace(/..(?=.)/g, "$&:"),
      mark,
    ],
    [
      "in capital hex with spaces",
      Buffer.from(value)
        .toString("hex")
        .toUpperCase()
        .replace(/..(?=.)/g, "$& "),
      mark,
    ],
    ["with every byte percent-encoded", `?q=${percentEncoded(value)}&x`, `?q=${mark}&x`],
    ["with one letter percent-encoded", encodeURIComponent(value).replace("r3t", "%723t"), mark],
    ["with \\u escapes", `x="${unitsOf(value, (code) => `\\u${code}`)}"`, `x="${mark}"`],
    ["with \\u escapes in JSON", JSON.stringify(unitsOf(value, (code) => `\\u${code}`)), `"${mark}"`],
    ["with \\u{} escapes", unitsOf(value, (code) => `\\u{${code}}`), mark],
    [
      "with \\x escapes",
      [...Buffer.from("correct-horse")].map((byte) => `\\x${byte.toString(16)}`).join(""),
      "[redacted: HORSE]",
    ],
    ["with decimal entities", [...value].map((each) => `&#${each.codePointAt(0)};`).join(""), mark],
    ["with hex entities", unitsOf(value, (code) => `&#x${code};`), mark],
    ["with some characters escaped, each in its own way", `s&#51;cr\\u0033t%2Fwith+odd \\x22chars&quot;\\&amp;é`, mark],
  ])("%s", (_, text, expected) => {
    expect(redactor.text(text)).toBe(expected);
  });

  it.each([0, 1, 2, 3, 4])("in base64 after %i other bytes, of either alphabet, with or without padding", (before) => {
    for (const encoding of ["base64", "base64url"] as const) {
      for (const after of ["", "x", "xy"]) {
        const text = Buffer.from(`${"u".repeat(before)}${value}${after}`).toString(encoding);
        const left = redactor.text(text);
        expect(left).toContain(mark);
        // At most two digits of the secret remain, which it shares with its neighbours.
        expect(left.replace(mark, "").length).toBeLessThanOrEqual(Math.ceil((before * 8) / 6) + 8);
      }
    }
  });

  it("as the password of a user in a URL", () => {
    expect(redactor.text(`Basic ${base64(`user:${value}`)}`)).toContain(mark);
  });

  it.each(["\n", "\r\n", "\\n", "\\r\\n", "\n    ", "\n\t\t", "\\n\\t", `\r\n${" ".repeat(24)}`])(
    "in base64 with line breaks by %j, at any position",
    (lineBreak) => {
      const long = createRedactor({ values: named(`${"k3y-".repeat(40)}end`) });
      const whole = base64(`${"k3y-".repeat(40)}end`);
      for (const width of [64, 76]) {
        for (let before = 0; before < width; before += 1) {
          const text = ".".repeat(before) + whole;
          const lines = text.match(new RegExp(`.{1,${width}}`, "g")) ?? [];
          const left = long.text(lines.join(lineBreak)).replaceAll(".", "");
          expect(left).toContain("[redacted: KEY_0]");
          expect(left.replace("[redacted: KEY_0]", "").replace(lineBreak, "").length).toBeLessThanOrEqual(20);
        }
      }
    },
  );
});

it("of several secrets at one position, the longest is replaced, with its own name", () => {
  const both = createRedactor({ values: named("abcdefgh", "abcdefghijkl") });
  expect(both.text("abcdefghijkl abcdefgh")).toBe("[redacted: KEY_1] [redacted: KEY_0]");
});

it("values that are too common are ignored", () => {
  const short = createRedactor({ values: named("1234567", "redacted") });
  expect(short.text("1234567 was redacted")).toBe("1234567 was redacted");
});

it("a name that would break a mark is cleaned", () => {
  const odd = createRedactor({ values: [{ name: "a]b\n[c", value: "abcdefgh" }] });
  expect(odd.text("abcdefgh")).toBe("[redacted: a_b__c]");
});

describe("redaction of JSON", () => {
  it("reaches every string and every key, and keeps the rest", () => {
    const date = new Date(0);
    const given = { a: [1, null, { [value]: `x${value}` }], b: true, c: date, d: undefined };
    expect(redactor.json(given)).toEqual({ a: [1, null, { [mark]: `x${mark}` }], b: true, c: date, d: undefined });
    expect(redactor.json(given).c).toBe(date);
  });

  it("returns the same object without secrets, and the same parts with some", () => {
    const clean = { b: [1, "two"], n: Number.NaN };
    expect(redactor.json(clean)).toBe(clean);
    expect(redactor.json({ clean, value }).clean).toBe(clean);
  });

  it("keeps both fields if two keys contain the same secret", () => {
    const given = { [value]: 1, [base64(value)]: 2, [Buffer.from(value).toString("hex")]: 3 };
    expect(Object.values(redactor.json(given))).toEqual([1, 2, 3]);
  });

  it("treats __proto__ as an ordinary name", () => {
    const made = redactor.json(JSON.parse(`{"__proto__":{"polluted":"${"s3cr3t"}"},"x":${JSON.stringify(value)}}`));
    expect(Object.keys(made)).toEqual(["__proto__", "x"]);
    expect(made.polluted).toBeUndefined();
  });
});

// The properties below hold for all texts and all values.

const piece = fc.constantFrom(
  ...'abAB01-_.:/@ \n\\"[]=%+',
  "sk-",
  "sk-ant-",
  "ant-api03-",
  "eyJ",
  "AIza",
  "AKIA",
  "ghp_",
  "xoxb-",
  "://",
  "Authorization: ",
  "Bearer ",
  "api-key",
  "-----BEGIN ",
  "PRIVATE KEY-----",
  "-----END ",
  "\\n",
  "[redacted: ",
  "[redacted: KEY_0]",
  "abcdefgh12345678",
  "ABCDEFGH12345678",
  "é",
  "\ud83d",
  "%6",
  "%61",
  "%c3%a9",
  "\\u",
  "\\u0061",
  "\\\\x62",
  "&#97;",
  "&amp;",
);
const anyText = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
const anyValue = fc.array(piece, { minLength: 1, maxLength: 30 }).map((pieces) => `${pieces.join("")}k3y-0000`);
const anyValues = fc.array(anyValue, { maxLength: 4 });
const cuts = fc.array(fc.nat(400), { maxLength: 12 });

/** Texts that contain the values, in all forms. */
const textsWithValues = fc
  .tuple(anyValues, fc.array(anyText, { minLength: 1, maxLength: 4 }), fc.nat(8))
  .map(([values, texts, form]) => {
    const forms = [
      (v: string) => v,
      (v: string) => JSON.stringify(v).slice(1, -1),
      (v: string) => base64(v),
      (v: string) => Buffer.from(v).toString("hex"),
      (v: string) => v.slice(0, v.length / 2),
      (v: string) => base64(`u:${v}`),
      percentEncoded,
      (v: string) => unitsOf(v, (code) => `\\u${code}`),
      (v: string) => unitsOf(v.slice(0, -3), (code) => `&#x${code};`) + v.slice(-3),
    ];
    const text = texts.map((each, i) => each + (values[i] === undefined ? "" : forms[form]?.(values[i]))).join("");
    return { values, text };
  });

function inPieces(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.filter((place) => place < text.length).sort((a, b) => a - b), text.length];
  return sorted.slice(1).map((end, i) => text.slice(sorted[i], end));
}

const runs = { numRuns: inject("long") ? 20_000 : 400 };

test("a streamed text is redacted like the whole text, with any split", () => {
  fc.assert(
    fc.property(textsWithValues, cuts, ({ values, text }, places) => {
      const all = createRedactor({ values: named(...values) });
      const stream = all.stream();
      const shown = inPieces(text, places).map((chunk) => stream.push(chunk));
      expect(shown.join("") + stream.flush()).toBe(all.text(text));
    }),
    runs,
  );
});

test("a text is redacted the same when it is streamed by characters", () => {
  fc.assert(
    fc.property(textsWithValues, ({ values, text }) => {
      const all = createRedactor({ values: named(...values) });
      const stream = all.stream();
      const shown = text.split("").map((character) => stream.push(character));
      expect(shown.join("") + stream.flush()).toBe(all.text(text));
    }),
    { numRuns: runs.numRuns / 4 },
  );
});

test("redaction is idempotent", () => {
  fc.assert(
    fc.property(textsWithValues, ({ values, text }) => {
      const all = createRedactor({ values: named(...values) });
      const once = all.text(text);
      expect(all.text(once)).toBe(once);
    }),
    runs,
  );
});

test("no secret passes, in any encoding and with any split", () => {
  const plain = fc.stringMatching(/^[A-Za-z0-9+/=_!"\\ é-]{8,40}$/);
  fc.assert(
    fc.property(plain, anyText, anyText, cuts, (secret, before, after, places) => {
      fc.pre(!"[redacted: KEY_0]".includes(secret));
      const all = createRedactor({ values: named(secret), shapes: false });
      for (const form of [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(secret),
        base64(secret),
        percentEncoded(secret),
      ]) {
        const stream = all.stream();
        const shown = inPieces(`${before} ${form} ${after}`, places).map((chunk) => stream.push(chunk));
        const out = shown.join("") + stream.flush();
        expect(out.split(/\[redacted: KEY_0\]/).some((part) => part.includes(form))).toBe(false);
      }
    }),
    { numRuns: runs.numRuns / 4 },
  );
});

test("redaction keeps the structure of any JSON, and the quick check misses no secret", () => {
  const shapeOf = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.map(shapeOf);
    return typeof json === "object" && json !== null ? Object.values(json).map(shapeOf) : typeof json;
  };
  const leaf = fc.oneof(anyText, fc.integer(), fc.constant(null));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(anyText, tie("tree"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(anyValues, tree as fc.Arbitrary<unknown>, fc.boolean(), (values, json, tell) => {
      const all = createRedactor({ values: named(...values) });
      const given = tell ? [json, ...values.map((each) => `x${each}`), { [values[0] ?? "k"]: 1 }] : json;
      const made = all.json(given);
      expect(shapeOf(made)).toEqual(shapeOf(given));
      expect(made === given).toBe(JSON.stringify(made) === JSON.stringify(given));
      if (made !== given) expect(all.mayBeIn(JSON.stringify(given))).toBe(true);
    }),
    runs,
  );
});
