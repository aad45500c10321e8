/** The server, its credentials and their origin; and the errors. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TroupeError } from "@troupe/core";
import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../config/config-file.ts";
import { natsRows, readNats } from "../config/nats-settings.ts";
import { removeTemporaryFolders, temporaryFolder } from "../testing/folders.ts";
import type { NatsFlags } from "./connection.ts";
import { findConnection } from "./find-connection.ts";

afterEach(removeTemporaryFolders);

const seed = "SUAC4ELBYUMH6IAXJXPG64JI6IRIXEXO6MO7HT4YBYNLWIAUWLWVIUUWHY";
const accountSeed = "SAAGZGCNGG63ZFANYEPRW56RHHS5CX236MXLB7WKEKPTHSFE2KMIEDHFTM";
const jwt = "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJVIn0.c2lnbmF0dXJl";
const creds = `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;

interface Given {
  flags?: NatsFlags;
  env?: Record<string, string>;
  /** The section of the user's own file. */
  file?: string;
  /** Contexts of the NATS command line. */
  contexts?: Record<string, object>;
  selected?: string;
  files?: Record<string, string>;
}

/** A user whose folder has all of that. */
function user({ flags = {}, env = {}, file = "", contexts = {}, selected, files = {} }: Given) {
  const home = temporaryFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  for (const [name, context] of Object.entries(contexts))
    write(`.config/nats/context/${name}.json`, JSON.stringify(context));
  for (const [path, text] of Object.entries(files)) write(path, text);
  if (selected !== undefined) write(".config/nats/context.txt", selected);
  const all = { HOME: home, ...env };
  const { nats } = parseConfig(file.replaceAll("~", home), "config.yaml").value;
  const settings = readNats(all, { nats, originOf: ([, key]) => ({ from: "user", where: `config.yaml: ${key}` }) });
  return { home, settings, find: () => findConnection({ flags, nats: settings, env: all, cwd: home }) };
}

async function serverOf(given: Given) {
  const connection = await user(given).find();
  if (connection.kind !== "server") throw new Error(`it is ${connection.kind}`);
  return connection;
}

async function errorOf(given: Given): Promise<TroupeError> {
  return troupeError(
    await user(given)
      .find()
      .catch((error: unknown) => error),
  );
}

function thrownBy(act: () => unknown): TroupeError {
  try {
    return troupeError(act());
  } catch (error) {
    return troupeError(error);
  }
}

function troupeError(thrown: unknown): TroupeError {
  if (TroupeError.is(thrown)) return thrown;
  throw thrown instanceof Error ? thrown : new Error("nothing was thrown");
}

function makeCertificate(): { certificate: string; key: string } {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key, "-out", cert, "-subj", "/CN=a"], {
    stdio: "ignore",
  });
  return { certificate: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

const all: Given = {
  flags: { nats: "nats://by-flag" },
  env: { NATS_URL: "nats://by-variable" },
  file: "nats: {servers: nats://by-file, context: by-file}",
  contexts: { chosen: { url: "nats://by-context" }, "by-file": { url: "nats://by-file-context" } },
  selected: "chosen",
};

describe("of several sources of a server URL", () => {
  test.each<[string, Partial<Given>, string, string]>([
    ["--nats", {}, "nats://by-flag", "flag"],
    ["--context NAME", { flags: { context: "chosen" } }, "nats://by-context", "flag"],
    ["--context alone: the selected one", { flags: { context: true } }, "nats://by-context", "flag"],
    ["NATS_URL", { flags: {} }, "nats://by-variable", "environment"],
    ["the file's servers", { flags: {}, env: {} }, "nats://by-file", "user"],
    ["the file's context", { flags: {}, env: {}, file: "nats: {context: by-file}" }, "nats://by-file-context", "user"],
  ])("%s wins over the sources below it", async (_name, less, servers, from) => {
    expect((await serverOf({ ...all, ...less })).server).toMatchObject({ servers, origin: { from } });
  });

  test("the selected context counts only on request", async () => {
    const { find } = user({ contexts: { chosen: { url: "nats://by-context" } }, selected: "chosen" });
    expect(await find()).toEqual({ kind: "embedded" });
  });

  test("none is set, and everything runs in one process", async () => {
    expect(await user({}).find()).toEqual({ kind: "embedded" });
  });

  test("`auto` is a private server, with an ordinary namespace", async () => {
    expect(await user({ flags: { nats: "auto", namespace: "mine" } }).find()).toMatchObject({
      kind: "auto",
      namespace: "mine",
    });
  });
});

describe("credentials", () => {
  const authOf = async (given: Given) => {
    const { access } = (await serverOf(given)).server;
    const { authenticator } = access;
    return typeof authenticator === "function" ? authenticator("bm9uY2U") : null;
  };
  const nats = "nats://h:4222";

  test.each<[string, Given, object]>([
    ["a token", { env: { NATS_TOKEN: "secret-token" } }, { auth_token: "secret-token" }],
    ["a user and a password", { env: { NATS_USER: "ada", NATS_PASSWORD: "pw" } }, { user: "ada", pass: "pw" }],
    [
      "an nkey",
      { env: { NATS_NKEY: "ada.nk" }, files: { "ada.nk": `${seed}\n` } },
      { nkey: expect.stringMatching(/^U/) },
    ],
    ["a creds file", { env: { NATS_CREDS: "~/ada.creds" }, files: { "ada.creds": creds } }, { jwt }],
  ])("are %s of variables", async (_name, given, auth) => {
    expect(await authOf({ ...given, flags: { nats } })).toMatchObject(auth);
  });

  test("of a context win over those of variables", async () => {
    const env = { NATS_TOKEN: "of-variables" };
    const contexts = { own: { url: nats, user: "ada", password: "pw", token: "" }, bare: { url: nats } };
    expect(await authOf({ env, contexts, flags: { context: "own" } })).toMatchObject({ user: "ada", pass: "pw" });
    expect(await authOf({ env, contexts, flags: { context: "bare" } })).toMatchObject({ auth_token: "of-variables" });
  });

  test("of the configuration are for its own servers, and for no others", async () => {
    const file = "nats: {servers: nats://home, creds: ~/ada.creds}";
    const files = { "ada.creds": creds };
    expect(await authOf({ file, files })).toMatchObject({ jwt });
    expect(await authOf({ file, files, flags: { nats } })).toBeNull();
  });

  test("are all registered as secrets", async () => {
    const secretsOf = async (given: Given) => (await serverOf(given)).server.secrets.map(({ value }) => value);
    // The name of a user may be a word of every day.
    expect(await secretsOf({ flags: { nats: "nats://ada:pass-word@h" } })).toEqual(["pass-word"]);
    expect(await secretsOf({ flags: { nats: "nats://token-of-mine@h" } })).toEqual(["token-of-mine"]);
    expect(await secretsOf({ flags: { nats }, env: { NATS_TOKEN: "token-of-mine" } })).toEqual(["token-of-mine"]);
    const fromFile = { flags: { nats }, env: { NATS_CREDS: "ada.creds" }, files: { "ada.creds": creds } };
    expect(await secretsOf(fromFile)).toEqual(expect.arrayContaining([seed, jwt]));
  });

  test("of the file of a context are found beside it", async () => {
    const files = { "team/nats.json": JSON.stringify({ url: nats, creds: "ada.creds" }), "team/ada.creds": creds };
    expect(await authOf({ files, flags: { context: "team/nats.json" } })).toMatchObject({ jwt });
  });
});

describe("TLS", () => {
  const { certificate, key } = makeCertificate();
  const tlsOf = async (given: Given) => (await serverOf(given)).server.access.tls;

  test("has a custom authority, a client's certificate, and the handshake first", async () => {
    const files = { "ca.pem": `${certificate}# ca`, "c.pem": certificate, "k.pem": key };
    const file = "nats: {servers: tls://h, ca: ~/ca.pem, cert: ~/c.pem, key: ~/k.pem, tlsFirst: true}";
    const wanted = { ca: files["ca.pem"], cert: certificate, key, handshakeFirst: true };
    expect(await tlsOf({ file, files })).toEqual(wanted);
    const own = { url: "tls://h", ca: "~/ca.pem", cert: "~/c.pem", key: "~/k.pem", tls_first: true };
    expect(await tlsOf({ files, contexts: { own }, flags: { context: "own" } })).toEqual(wanted);
  });

  test("is required if the URL says so, and otherwise the server's choice", async () => {
    expect(await tlsOf({ flags: { nats: "tls://h" } })).toEqual({});
    expect(await tlsOf({ flags: { nats: "nats://h" } })).toBeUndefined();
  });
});

describe("shared settings", () => {
  test("have a flag, a key in the file, and a default", async () => {
    expect(await serverOf({ flags: { nats: "h" } })).toMatchObject({
      ...{ namespace: "troupe", leaseMs: 8_000, keepDays: null, settings: {} },
      locality: expect.stringMatching(/^m[0-9a-f]{12}$/),
    });
    const file = `nats: {servers: [h1, h2], namespace: team, leaseMs: 2000, keepDays: 30, replicas: 3, journalBytesMax: 5, place: disk-1}`;
    const shared = { leaseMs: 2_000, keepDays: 30, settings: { replicas: 3, journalBytesMax: 5 } };
    expect(await serverOf({ file })).toMatchObject({ ...shared, namespace: "team", locality: "disk-1" });
    expect(await serverOf({ file: "nats: {servers: h, leaseMs: 2s}" })).toMatchObject({ leaseMs: 2_000 });
    const flags = { namespace: "other", locality: "disk-2", leaseMs: 3_000 };
    expect(await serverOf({ file, flags })).toMatchObject({ namespace: "other", locality: "disk-2", leaseMs: 3_000 });
  });
});

describe("an invalid connection is refused with a fix", () => {
  const contexts = { one: { url: "nats://1" }, two: { url: "nats://2" } };
  const flags = { context: "one" };
  const nats = "nats://h";
  const damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  test.each<[string, Given, string, RegExp]>([
    ["an invalid address", { flags: { nats: "http://h" } }, "USAGE", /"http:\/\/h" is not a NATS address/],
    [
      "an address with a password",
      { flags: { nats: "http://a:hunter2@h" } },
      "USAGE",
      /"http:\/\/…@h" is not a NATS address/,
    ],
    ["no address", { flags: { nats: " " } }, "USAGE", /--nats is empty/],
    ["a missing context", { contexts, flags: { context: "three" } }, "INVALID_CONFIG", /"three" .*one, two/],
    ["no context at all", { flags: { context: "three" } }, "INVALID_CONFIG", /no context is stored/],
    ["no selected context", { contexts, flags: { context: true } }, "INVALID_CONFIG", /is selected.*one, two/],
    [
      "a context that is not JSON",
      { files: { "x.json": "{" }, flags: { context: "./x.json" } },
      "INVALID_CONFIG",
      /not JSON/,
    ],
    ["a context with another schema", { contexts: { one: { url: 7 } }, flags }, "INVALID_CONFIG", /url/],
    ["nsc", { contexts: { one: { url: "h", nsc: "nsc://o/a/u" } }, flags }, "INVALID_CONFIG", /sets nsc, which/],
    [
      "a JetStream domain",
      { contexts: { one: { jetstream_domain: "hub" } }, flags },
      "INVALID_CONFIG",
      /jetstream_domain/,
    ],
    [
      "missing creds",
      { flags: { nats }, env: { NATS_CREDS: "no.creds" } },
      "INVALID_CONFIG",
      /no\.creds cannot be read: the file does not exist/,
    ],
    [
      "invalid creds",
      { flags: { nats }, env: { NATS_CREDS: "x" }, files: { x: "hello" } },
      "INVALID_CONFIG",
      /not the creds file/,
    ],
    [
      "an invalid seed",
      { flags: { nats }, env: { NATS_NKEY: "x" }, files: { x: `${seed.slice(0, -1)}A` } },
      "INVALID_CONFIG",
      /not the nkey seed/,
    ],
    [
      "the seed of an account",
      { flags: { nats }, env: { NATS_NKEY: "x" }, files: { x: accountSeed } },
      "INVALID_CONFIG",
      /not the nkey seed of a user: its seed belongs to an account/,
    ],
    [
      "a folder of creds",
      { flags: { nats }, env: { NATS_CREDS: "." } },
      "INVALID_CONFIG",
      /cannot be read: it is a folder/,
    ],
    ["a user alone", { flags: { nats }, env: { NATS_USER: "ada" } }, "INVALID_CONFIG", /"ada" has no password/],
    [
      "a certificate alone",
      { flags: { nats }, env: { NATS_CERT: "c.pem" } },
      "INVALID_CONFIG",
      /needs both the certificate and its key/,
    ],
    [
      "an invalid authority",
      { flags: { nats }, env: { NATS_CA: "ca" }, files: { ca: "x" } },
      "INVALID_CONFIG",
      /in PEM form/,
    ],
    [
      "a certificate that is damaged",
      { flags: { nats }, env: { NATS_CERT: "pem", NATS_KEY: "pem" }, files: { pem: damaged } },
      "INVALID_CONFIG",
      /certificates for NATS cannot be used/,
    ],
    [
      "an address with a truncated password",
      { flags: { nats: "nats://a:hunter2%z@h" } },
      "USAGE",
      /is not a NATS address/,
    ],
    ["a namespace that breaks subjects", { flags: { nats, namespace: "a.b" } }, "USAGE", /--namespace "a\.b"/],
  ])("%s", async (_name, given, code, message) => {
    const error = await errorOf(given);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message), fix: expect.stringMatching(/./) });
    for (const secret of ["hunter2", accountSeed, seed.slice(0, -1)]) expect(error.message).not.toContain(secret);
  });

  test.each([
    ["password: pw", /nats\.password.*NATS_PASSWORD/s],
    ["token: abc", /NATS_TOKEN/],
    ["servers: nats://ada:pw@h", /NATS_PASSWORD/],
    ["servers: ftp://h", /servers: nats:\/\/host:4222/],
    ["creds: ada.creds", /absolute/],
    ["leaseMs: 5", /leaseMs: 8000/],
    ["servres: h", /did you mean servers/],
  ])("in a file: %s", (line, words) => {
    const { message, fix } = thrownBy(() => parseConfig(`nats: {${line}}`, "config.yaml"));
    expect(`${message}\n${fix}`).toMatch(words);
    expect(`${message}\n${fix}`).not.toContain("ada:pw");
  });
});

test("the list of settings shows each origin and no secret", () => {
  const file = "nats: {servers: nats://home, namespace: team, tlsFirst: true}";
  const env = { NATS_URL: "nats://ada:hunter2@a,nats://hunter3@b", NATS_TOKEN: "hunter4" };
  const rows = natsRows(user({ file, env }).settings).map(
    ({ key, value, origin }) => `${key} ${value} ${origin.where}`,
  );
  expect(rows.sort()).toEqual([
    "nats.namespace team config.yaml: namespace",
    "nats.servers nats://…@a, nats://…@b NATS_URL",
    "nats.tlsFirst true config.yaml: tlsFirst",
    "nats.token set NATS_TOKEN",
  ]);
});
