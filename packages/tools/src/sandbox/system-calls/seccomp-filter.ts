import {
  type Architecture,
  type ArgumentCheck,
  type CallRow,
  callTable,
  errorNumbers,
  lastJudgedNumber,
} from "./call-table.ts";

/** One instruction of classic BPF: code, jumps if true and if false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

const codes = { loadWord: 0x20, and: 0x54, jumpIfEqual: 0x15, jumpIfGreater: 0x25, return: 0x06 } as const;

/** Offsets in `struct seccomp_data`. Both processors store the lower half of an argument first. */
const offsets = { number: 0, architecture: 4, argument: (index: number): number => 16 + 8 * index } as const;

/** `AUDIT_ARCH_…` of the kernel. */
const architectureValues: Readonly<Record<Architecture, number>> = { x86_64: 0xc000_003e, aarch64: 0xc000_00b7 };

const allowValue = 0x7fff_0000;
const errorBase = 0x0005_0000;

/** The processor of this process; null if the table does not have its numbers. */
export function architectureOf(arch: string = process.arch): Architecture | null {
  if (arch === "x64") return "x86_64";
  return arch === "arm64" ? "aarch64" : null;
}

/**
 * Assembles the filter of system calls, in the kernel's format (`struct sock_filter`, 8 bytes each). It never kills: a
 * refused call returns an error, so that programs can fall back.
 *
 * Calls of another architecture, such as 32-bit ones of an x86-64 machine, are all refused: their numbers differ.
 *
 * @example
 * const bytes = assembleFilter("x86_64"); // for prctl(PR_SET_SECCOMP), or bwrap --seccomp
 */
export function assembleFilter(architecture: Architecture, table: readonly CallRow[] = callTable): Uint8Array {
  const program: Instruction[] = [
    [codes.loadWord, 0, 0, offsets.architecture],
    [codes.jumpIfEqual, 1, 0, architectureValues[architecture]],
    returnError("EPERM"),
    [codes.loadWord, 0, 0, offsets.number],
    [codes.jumpIfGreater, 0, 1, lastJudgedNumber],
    returnError("ENOSYS"),
    ...table.flatMap((row) => assembleRow(row, architecture)),
    [codes.return, 0, 0, allowValue],
  ];
  const bytes = new DataView(new ArrayBuffer(8 * program.length));
  for (const [i, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.setUint16(8 * i, code, true);
    bytes.setUint8(8 * i + 2, ifTrue);
    bytes.setUint8(8 * i + 3, ifFalse);
    bytes.setUint32(8 * i + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** The instructions of one call. Every way through them returns, so a row only jumps over its own instructions. */
function assembleRow({ numbers, error, allowedIf = [] }: CallRow, architecture: Architecture): Instruction[] {
  const number = numbers[architecture];
  if (number === null) return [];
  const body = [...allowedIf.flatMap(assembleChecks), returnError(error)];
  return [[codes.jumpIfEqual, 0, jumpOver(body), number], ...body];
}

/** Allows the call if all checks hold, otherwise continues behind these instructions. */
function assembleChecks(checks: readonly ArgumentCheck[]): Instruction[] {
  let instructions: Instruction[] = [[codes.return, 0, 0, allowValue]];
  for (const check of checks.toReversed()) instructions = [...assembleCheck(check, instructions), ...instructions];
  return instructions;
}

/** Continues with `rest` if the check holds, otherwise behind it. */
function assembleCheck(check: ArgumentCheck, rest: readonly Instruction[]): Instruction[] {
  const isListed = "in" in check;
  const values = isListed ? check.in : check.notIn;
  const behind = jumpOver(rest);
  return [
    [codes.loadWord, 0, 0, offsets.argument(check.argument)],
    ...(check.mask === undefined ? [] : [[codes.and, 0, 0, check.mask] as const]),
    ...values.map((value, i): Instruction => {
      const othersCount = values.length - 1 - i;
      if (!isListed) return [codes.jumpIfEqual, othersCount + behind, 0, value];
      return [codes.jumpIfEqual, othersCount, othersCount === 0 ? behind : 0, value];
    }),
  ];
}

function returnError(name: CallRow["error"]): Instruction {
  return [codes.return, 0, 0, errorBase + errorNumbers[name]];
}

/** A jump has one byte. */
function jumpOver(instructions: readonly Instruction[]): number {
  if (instructions.length > 255) throw new RangeError(`a rule of ${instructions.length} instructions is too long`);
  return instructions.length;
}
