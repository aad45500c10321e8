/** The analysis of a command line never throws, and its result has a limit for every line. */
import { expect, inject, test } from "vitest";
import { lineEffects } from "./line-effects.ts";

const pieces = [
  ..."rm -rf src|mv a b|cd x|git clean -fdx|find . -delete|xargs|sh -c|eval|env A=1|sudo|echo|> a|>> b|&> c|2>&1|<<E".split(
    "|",
  ),
  ..."|| && | ; & ( ) { } $( ` ' \" \\ \n \t * ? [a] {a,b} $X $((1+2)) ~ ! # if then else fi for in do done while case esac".split(
    " ",
  ),
  ..."function f() X=1 export trap . time [[ ]] == -- -t -i -o of=x \u0000 é 😀 \r".split(" "),
];

/** A generator of numbers with a seed, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomLine(random: (below: number) => number): string {
  const words = Array.from({ length: 1 + random(30) }, () => pieces[random(pieces.length)] ?? "");
  return words.map((word) => word + (random(4) === 0 ? "" : " ")).join("");
}

const at = { folder: "/workspace", isFolder: () => false };

test("of any line", { timeout: 120_000 }, () => {
  const count = inject("long") ? 100_000 : 10_000;
  const random = randomFrom(7);
  let most = 0;
  for (let i = 0; i < count; i += 1) {
    const { targets, programs } = lineEffects(randomLine(random), at);
    most = Math.max(most, targets.length, programs.length);
  }
  expect(most).toBeGreaterThan(5);
  expect(most).toBeLessThan(3_000);
});

test.each([
  ["deep substitutions", `${"$(".repeat(3_000)}rm a${")".repeat(3_000)}`],
  ["deep groups", `${"(".repeat(3_000)}rm a${")".repeat(3_000)}`],
  ["deep wrappers", `${"env ".repeat(20_000)}rm a`],
  ["many alternatives", `rm ${"{a,b}".repeat(2_000)}`],
  ["many variables", `${Array.from({ length: 500 }, (_, i) => `A${i + 1}=$A${i}$A${i}`).join(";")}; rm $A500`],
  ["many loops", `${"for i in a b c; do ".repeat(30)}rm $i${"; done".repeat(30)}`],
  ["many commands", "rm a;".repeat(15_000)],
  ["many folders", `${"cd a || cd b; ".repeat(2_000)}rm x`],
  ["a long word", `rm ${"a".repeat(100_000)}`],
])("of a line with %s", { timeout: 30_000 }, (_, line) => {
  const { targets, isUnclear } = lineEffects(line, at);
  expect(targets.length > 0 || isUnclear).toBe(true);
  expect(targets.length).toBeLessThan(3_000);
});
