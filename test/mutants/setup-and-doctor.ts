import type { Mutant } from "./mutant.ts";

const setupTest = "test/e2e/setup.test.ts > setup";
const configurationTest = "packages/cli/src/setup/configuration.test.ts";
const fixTest = "test/e2e/doctor-fix.test.ts > troupe doctor --fix";
const setup = "packages/cli/src/commands/setup.ts";
const configuration = "packages/cli/src/setup/configuration.ts";
const findModels = "packages/cli/src/setup/find-models.ts";
const findNats = "packages/cli/src/setup/find-nats.ts";
const repairHome = "packages/cli/src/doctor/repair-home.ts";
const repairRecord = "packages/cli/src/doctor/repair-record.ts";

type PartMutant = Pick<Mutant, "name" | "file" | "find" | "replace" | "tests">;

/** Breaks what `troupe setup` finds, tests and writes. */
const ofSetup: readonly PartMutant[] = [
  {
    name: "setup overwrites a configuration that another process has created",
    file: configuration,
    find: '{ flag: "wx", mode: 0o600 }',
    replace: '{ flag: "w", mode: 0o600 }',
    tests: [`${configurationTest} > never overwrites a file`],
  },
  {
    name: "setup reports a file in the place of its folder as a configuration",
    file: configuration,
    find: "if (isFolderMade && errorCodeOf",
    replace: "if (errorCodeOf",
    tests: [`${configurationTest} > reports a place that cannot be written, with the variable that names another`],
  },
  {
    name: "other users can read the configuration that setup writes",
    file: configuration,
    find: "mode: 0o600",
    replace: "mode: 0o644",
    tests: [
      `${configurationTest} > creates the file and its folder, for this user only`,
      `${setupTest} > tests a key live and writes a configuration that the next run uses`,
    ],
  },
  {
    name: "setup names a line that the configuration has",
    file: configuration,
    find: "return isOfFile && configuredModel(config) === model ? [] : [modelLine(model)];",
    replace: "return [modelLine(model)];",
    tests: [`${setupTest} > never overwrites a configuration, and names the line to set`],
  },
  {
    name: "setup writes a model with a colon and a space as it is",
    file: configuration,
    find: "/^[\\w./:-]+$/.test(model)",
    replace: "/^[\\w./: -]+$/.test(model)",
    tests: [`${configurationTest} > writes the model lmstudio/my model: new as one text of YAML`],
  },
  {
    name: "setup believes that a listed model answers",
    file: findModels,
    find: "return [await testModel(cli, candidate, { name, model })];",
    replace:
      'return [finding("provider", name, "works", { detail: `${model} answers and calls tools, ${placeOf(provider)}`, model })];',
    tests: [
      `${setupTest} > takes a model of Ollama without a key`,
      `${setupTest} > does not take a model that calls no tools`,
    ],
  },
  {
    name: "setup takes a model that calls no tools",
    file: findModels,
    find: 'part === "streaming" || part === "usage"',
    replace: 'part === "streaming" || part === "usage" || part === "tools"',
    tests: [`${setupTest} > does not take a model that calls no tools`],
  },
  {
    name: "setup prints a key that a server repeats",
    file: findModels,
    find: "detail: redact.text(each.detail)",
    replace: "detail: each.detail",
    tests: [`${setupTest} > hides a key that a server repeats`],
  },
  {
    name: "setup takes a model that calls a tool that does not exist",
    file: "packages/cli/src/models/probe-model.ts",
    find: "if (call.name !== probeTool.name) return",
    replace: 'if (call.name === "") return',
    tests: [`${setupTest} > hides a key that a server repeats`],
  },
  {
    name: "setup says to check the address after a refused key",
    file: findModels,
    find: "const fix = isKey ?",
    replace: "const fix = isKey && thrown === null ?",
    tests: [`${setupTest} > says what is wrong with a refused key, without the key: 3`],
  },
  {
    name: "setup takes the last model that works",
    file: setup,
    find: "const [first = null] = ordered;",
    replace: "const first = ordered.at(-1) ?? null;",
    tests: [`${setupTest} > of several models that work, takes that of the vendor with a key`],
  },
  {
    name: "setup writes in a dry run",
    file: setup,
    find: "return yes && !dryRun;",
    replace: "return yes;",
    tests: [`${setupTest} > writes nothing with a dry run`],
  },
  {
    name: "setup takes no answer for a yes",
    file: setup,
    find: "if (json || !cli.keyboard.isTerminal) return false;",
    replace: "if (json || !cli.keyboard.isTerminal) return true;",
    tests: [`${setupTest} > writes nothing with no answer`],
  },
  {
    name: "setup succeeds without a model",
    file: setup,
    find: "(model === null ? exitCodes.NO_PROVIDER : 0)",
    replace: "0",
    tests: [
      `${setupTest} > says how to begin if it finds nothing: 3`,
      `${setupTest} > says what is wrong with a refused key, without the key: 3`,
    ],
  },
  {
    name: "setup says nothing of a broken configuration",
    file: setup,
    find: "return { config: await read(bare), env: bare, problem };",
    replace: "return { config: await read(bare), env: bare, problem: problem.model === null ? null : problem };",
    tests: [`${setupTest} > reports a broken configuration, and still tests the rest`],
  },
  {
    name: "setup takes an unreachable NATS server for an absent one",
    file: findNats,
    find: 'return finding("nats", "NATS", "fails", { detail: message, fix });',
    replace: 'return finding("nats", "NATS", "absent", { detail: message, fix });',
    tests: [`${setupTest} > tests the configured NATS server`],
  },
  {
    name: "setup blames each folder for all broken agents",
    file: "packages/cli/src/setup/find-agents.ts",
    find: 'severity === "error" && path.startsWith(folder)',
    replace: 'severity === "error" && path !== folder',
    tests: [`${setupTest} > lists the folders with agents, and an error in one`],
  },
];

/** Breaks the repairs of `troupe doctor --fix`, and the guards of files that a repair must not change. */
const ofDoctor: readonly PartMutant[] = [
  {
    name: "doctor repairs without being asked",
    file: "packages/cli/src/commands/doctor.ts",
    find: "flags.fix ? await",
    replace: "flags.fix !== null ? await",
    tests: [`${fixTest} > is the only way in which doctor changes a home`],
  },
  {
    name: "doctor leaves the accounts open to other users",
    file: repairHome,
    find: '["", "-journal", "-wal", "-shm"]',
    replace: '["-journal", "-wal", "-shm"]',
    tests: [`${fixTest} > closes the home, the accounts and the token to other users, and changes nothing else`],
  },
  {
    name: "doctor leaves the newest accounts open to other users",
    file: repairHome,
    find: '["", "-journal", "-wal", "-shm"]',
    replace: '["", "-journal", "-shm"]',
    tests: [`${fixTest} > closes the home, the accounts and the token to other users, and changes nothing else`],
  },
  {
    name: "a token that others could read stays valid",
    file: repairHome,
    find: "...(tokenMode !== null && (tokenMode & othersBits) !== 0 ? [ofToken] : []),",
    replace: "",
    tests: [`${fixTest} > closes the home, the accounts and the token to other users, and changes nothing else`],
  },
  {
    name: "doctor creates a home for all users",
    file: repairHome,
    find: "await prepareHome(home);",
    replace: "await prepareHome(home);\n      await chmod(home.path, 0o755);",
    tests: [`${fixTest} > creates a missing home for this user only`],
  },
  {
    name: "doctor removes files of a running daemon",
    file: repairHome,
    find: "if (!lock) return [skipped",
    replace: 'if (!lock && name === "leftover") return [skipped',
    tests: [`${fixTest} > removes the owner file of a killed daemon, and keeps that of a running one`],
  },
  {
    name: "doctor takes a running owner for a killed one",
    file: repairHome,
    find: "...(!isOwned && (await modeOf(owner)) !== null",
    replace: "...((await modeOf(owner)) !== null",
    tests: [`${fixTest} > removes the owner file of a killed daemon, and keeps that of a running one`],
  },
  {
    name: "doctor removes the copies of a running command",
    file: repairHome,
    find: "const copyAgeMs = 3_600_000;",
    replace: "const copyAgeMs = -3_600_000;",
    tests: [`${fixTest} > removes old copies of killed commands, and no young ones`],
  },
  {
    name: "doctor removes drafts of other programs",
    file: repairHome,
    find: "|.+\\.\\d+\\.[0-9a-f]{8}\\.tmp)$/",
    replace: "|.+\\.tmp)$/",
    tests: [`${fixTest} > removes old copies of killed commands, and no young ones`],
  },
  {
    name: "doctor replaces the record of a journal on a server",
    file: repairRecord,
    find: "if (!existsSync(journal) || (await recordStoreOf(home)) !== embeddedStore) return [];",
    replace: "if (!existsSync(journal)) return [];",
    tests: [`${fixTest} > leaves the record of a journal on a NATS server alone`],
  },
  {
    name: "doctor tries to make the record from a damaged journal",
    file: repairRecord,
    find: '    if (damage.some(({ store }) => store === "journal")) return null;\n',
    replace: "",
    tests: [`${fixTest} > leaves the record of a damaged journal alone`],
  },
  {
    name: "doctor leaves a record that differs from its journal",
    file: repairRecord,
    find: "if (differing.length > 0)",
    replace: "if (differing.length > 9)",
    tests: [`${fixTest} > makes a different record again from the journal`],
  },
  {
    name: "doctor leaves a record that is behind its journal",
    file: repairRecord,
    find: "return behind > 0 ?",
    replace: "return behind > 9_000 ?",
    tests: [`${fixTest} > brings a record that is behind its journal up to date`],
  },
  {
    name: "doctor leaves a missing record",
    file: repairRecord,
    find: "if (!existsSync(record)) return `${record} is missing`;",
    replace: "if (!existsSync(record)) return null;",
    tests: [`${fixTest} > makes a missing record again from the journal`],
  },
];

export const mutants: readonly Mutant[] = [
  ...ofSetup.map((mutant) => ({ ...mutant, rows: [], part: "setup" })),
  ...ofDoctor.map((mutant) => ({ ...mutant, rows: [], part: "doctor" })),
];
