import { describe, expect, test } from "vitest";
import { type Architecture, type ArgumentCheck, callTable, errorNumbers, lastJudgedNumber } from "./call-table.ts";
import { assembleFilter } from "./seccomp-filter.ts";

const architectures: Record<Architecture, number> = { x86_64: 0xc000_003e, aarch64: 0xc000_00b7 };
const allowed = 0x7fff_0000;

/** One system call as the kernel shows it to a filter. */
interface Call {
  arch: number;
  number: number;
  args?: readonly bigint[];
}

/** Runs classic BPF as the kernel does, for all instructions that the kernel allows in a filter and this one uses. */
function interpret(program: Uint8Array, { arch, number, args = [] }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, arch, true);
  for (const [i, value] of args.entries()) data.setBigUint64(16 + 8 * i, value, true);
  const code = new DataView(program.buffer);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const operand = code.getUint32(8 * at + 4, true);
    const jump = (isTrue: boolean): number => code.getUint8(8 * at + (isTrue ? 2 : 3));
    switch (code.getUint16(8 * at, true)) {
      case 0x20:
        accumulator = data.getUint32(operand, true);
        break;
      case 0x54:
        accumulator = (accumulator & operand) >>> 0;
        break;
      case 0x15:
        at += jump(accumulator === operand);
        break;
      case 0x25:
        at += jump(accumulator > operand);
        break;
      case 0x06:
        return operand;
      default:
        throw new Error(`instruction ${at} is unknown`);
    }
  }
  throw new Error("the program ends without an answer");
}

const errorOf = (name: keyof typeof errorNumbers): number => 0x0005_0000 + errorNumbers[name];

/** The table's rule for arguments, without the assembler. */
function holds(check: ArgumentCheck, args: readonly bigint[]): boolean {
  const value = Number((args[check.argument] ?? 0n) & 0xffff_ffffn & BigInt(check.mask ?? 0xffff_ffff));
  return "in" in check ? check.in.includes(value) : !check.notIn.includes(value);
}

/** Every combination of values that a row names, their neighbours, and the same with the upper half set. */
function interestingArguments(lists: readonly (readonly ArgumentCheck[])[]): bigint[][] {
  const checks = lists.flat();
  const valuesOf = (argument: number): bigint[] => {
    const own = checks.filter((check) => check.argument === argument);
    const named = own.flatMap((check) => [...("in" in check ? check.in : check.notIn), check.mask ?? 0]);
    const near = named.flatMap((value) => [value, value + 1, value ^ 0x8_0000].map((one) => BigInt(one >>> 0)));
    return [...new Set([0n, 7n, 40n, ...near])].flatMap((value) => [value, value + (1n << 32n)]);
  };
  const [first, second, third] = [0, 1, 2].map((argument) =>
    checks.some((check) => check.argument === argument) ? valuesOf(argument) : [0n],
  );
  return (first ?? []).flatMap((a) => (second ?? []).flatMap((b) => (third ?? []).map((c) => [a, b, c])));
}

describe.each(Object.entries(architectures))("the filter for %s", (name, arch) => {
  const architecture = name as Architecture;
  const program = assembleFilter(architecture);
  const rows = callTable.filter((row) => row.numbers[architecture] !== null);

  test.each(rows)("answers $name as its row says", ({ numbers, error, allowedIf = [] }) => {
    const number = numbers[architecture] ?? -1;
    for (const args of interestingArguments(allowedIf)) {
      const isAllowed = allowedIf.some((checks) => checks.every((check) => holds(check, args)));
      expect(interpret(program, { arch, number, args }), `${args}`).toBe(isAllowed ? allowed : errorOf(error));
    }
  });

  test("allows every call without a row, with any arguments", () => {
    const restricted = new Set(rows.map(({ numbers }) => numbers[architecture]));
    for (let number = 0; number <= lastJudgedNumber; number += 1) {
      if (restricted.has(number)) continue;
      for (const args of [[], [0xffff_ffff_ffff_ffffn, 0x5412n, 40n]]) {
        expect(interpret(program, { arch, number, args }), `${number}`).toBe(allowed);
      }
    }
  });

  test("refuses calls of other architectures, of x32, and those of later kernels", () => {
    for (const other of [0x4000_0003, 0x4000_0028, ...Object.values(architectures).filter((one) => one !== arch), 0]) {
      for (const number of [0, 1, 59, 217]) expect(interpret(program, { arch: other, number })).toBe(errorOf("EPERM"));
    }
    for (const number of [lastJudgedNumber + 1, 512, 0x4000_0000, 0x4000_0001, 0xffff_ffff]) {
      expect(interpret(program, { arch, number })).toBe(errorOf("ENOSYS"));
    }
  });

  test("is small enough for the kernel, and every jump leads forward into it", () => {
    const code = new DataView(program.buffer);
    const count = program.length / 8;
    expect(count).toBeLessThan(4_096);
    for (let at = 0; at < count; at += 1) {
      const isJump = [0x15, 0x25].includes(code.getUint16(8 * at, true));
      const farthest = Math.max(code.getUint8(8 * at + 2), code.getUint8(8 * at + 3));
      expect(isJump ? at + 1 + farthest < count : farthest === 0, `${at}`).toBe(true);
    }
  });
});

test("the table has each name once, each number once per architecture, and a reason in each row", () => {
  expect(new Set(callTable.map(({ name }) => name)).size).toBe(callTable.length);
  for (const architecture of ["x86_64", "aarch64"] as const) {
    const numbers = callTable.map((row) => row.numbers[architecture]).filter((number) => number !== null);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(lastJudgedNumber);
  }
  for (const { reason } of callTable) expect(reason.length).toBeGreaterThan(10);
});

test("a rule that is longer than a jump is refused", () => {
  const values = Array.from({ length: 300 }, (_, i) => i);
  const row = { name: "long", numbers: { x86_64: 1, aarch64: 1 }, error: "EPERM", reason: "" } as const;
  expect(() => assembleFilter("x86_64", [{ ...row, allowedIf: [[{ argument: 0, in: values }]] }])).toThrow(RangeError);
});
