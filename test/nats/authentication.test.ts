/**
 * Every kind of credentials, in every place that can name them, on servers that require them. Valid credentials connect,
 * invalid ones are an error, and no error contains a secret.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { ensureStreams, openNatsLink } from "@troupe/nats";
import { describe, expect, it, type TestContext } from "vitest";
import { openConfig } from "../../packages/troupe/src/config/config.ts";
import { findConnection } from "../../packages/troupe/src/nats/find-connection.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { createNatsOperator } from "../harness/nats-operator.ts";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const hasServer = findNatsServer() !== null;

/** One kind of credentials. The keys are those of the configuration and of a context. */
type Settings = Readonly<Record<string, string>>;

interface CredentialKind {
  server: NatsServer;
  right: Settings;
  wrong: Settings;
  /** Texts that must not appear in an error. */
  secrets: string[];
}

const credentialKindNames = [
  "a creds file",
  "an nkey",
  "a token",
  "a user and a password",
  "a client's certificate",
] as const;
type CredentialKindName = (typeof credentialKindNames)[number];

/** Places that can name it. A configuration contains neither passwords nor tokens. */
const credentialSources = {
  "the configuration": async (folder: string, url: string, settings: Settings) => {
    const file = path.join(folder, "config.yaml");
    await writeFile(file, JSON.stringify({ nats: { servers: url, ...settings } }));
    return { env: { TROUPE_CONFIG: file }, flags: {} };
  },
  variables: async (_folder: string, url: string, settings: Settings) => {
    const named = Object.entries(settings).map(([key, value]) => [`NATS_${key.toUpperCase()}`, value]);
    return { env: { NATS_URL: url, ...Object.fromEntries(named) }, flags: {} };
  },
  "a context": async (folder: string, url: string, settings: Settings) => {
    const contexts = path.join(folder, ".config", "nats", "context");
    await mkdir(contexts, { recursive: true });
    await writeFile(path.join(contexts, "team.json"), JSON.stringify({ url, ...settings }));
    return { env: {}, flags: { context: "team" } };
  },
  "the address": async (_folder: string, url: string, { token, user, password }: Settings) => {
    return { env: {}, flags: { nats: url.replace("//", `//${token ?? `${user}:${password}`}@`) } };
  },
} as const;
type CredentialSource = keyof typeof credentialSources;

const everywhere = ["the configuration", "variables", "a context"] as const;
const besidesFiles = ["variables", "a context", "the address"] as const;
const sourcesOf: Record<CredentialKindName, readonly CredentialSource[]> = {
  "a creds file": everywhere,
  "an nkey": everywhere,
  "a token": besidesFiles,
  "a user and a password": besidesFiles,
  "a client's certificate": everywhere,
};
const cases = credentialKindNames.flatMap((way) => sourcesOf[way].map((place) => [way, place] as const));

describe.skipIf(!hasServer)(hasServer ? "authentication" : natsServerMissing, () => {
  const opened = useShared(async (test) => (hasServer ? await openWays(test) : null));
  const ways = (): Record<CredentialKindName, CredentialKind> =>
    opened()?.ways ?? ({} as Record<CredentialKindName, CredentialKind>);

  it.for(cases)("by %s, named in %s", async ([name, place], test) => {
    const way = ways()[name];
    const { version, created } = await enter(way.server.url, way.right, place, test);
    expect(version).toMatch(/^2\./);
    // Only the first process on a server creates them.
    expect([0, 3]).toContain(created.length);

    const refused = await enter(way.server.url, way.wrong, place, test).catch((error: unknown) => error);
    if (!TroupeError.is(refused)) throw refused;
    expect(refused).toMatchObject({ code: "UNAUTHORIZED", fix: expect.stringContaining("NATS_") });
    expect(refused.message).toContain(way.server.url);
    const error = `${refused.message} ${refused.fix} ${String(refused.cause)}`;
    for (const secret of way.secrets) expect(error).not.toContain(secret);
  });

  it.for(credentialKindNames)("that requires %s refuses a client without credentials", async (name, test) => {
    const { server } = ways()[name];
    // A server that requires a certificate has one itself, which the client must trust first.
    const { ca } = ways()["a client's certificate"].right;
    const nothing = name === "a client's certificate" && ca ? { ca } : {};
    await expect(enter(server.url, nothing, "variables", test)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  it("by expired creds is refused, with their file and their expiry", async (test) => {
    const folder = await tempFolder("ways", test);
    const { server } = ways()["a creds file"];
    const creds = path.join(folder, "old.creds");
    await writeFile(creds, opened()?.expired ?? "");
    await expect(enter(server.url, { creds }, "variables", test)).rejects.toMatchObject({
      code: "UNAUTHORIZED",
      message: `${server.url} refuses these credentials: those in ${creds} have expired (2020-01-01T00:00:00.000Z)`,
    });
  });

  it("without TLS on the server, or with the key of another certificate, is reported as such", async (test) => {
    const { url } = ways()["a token"].server;
    const tls = url.replace("nats:", "tls:");
    await expect(enter(tls, {}, "variables", test)).rejects.toMatchObject({
      ...{ code: "UNREACHABLE", message: `${tls} does not speak TLS` },
    });
    const { right, wrong } = ways()["a client's certificate"];
    await expect(enter(url, { ...right, key: wrong.key ?? "" }, "variables", test)).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringMatching(/certificates for NATS cannot be used: .*mismatch/),
    });
  });
});

/** Connects as troupe does, with files, variables and flags. */
async function enter(
  url: string,
  settings: Settings,
  place: CredentialSource,
  test: Pick<TestContext, "onTestFinished">,
) {
  const folder = await tempFolder("way", test);
  const { flags, ...given } = await credentialSources[place](folder, url, settings);
  const env = { HOME: folder, ...given.env };
  const config = await openConfig({ home: { path: folder }, env, cwd: folder });
  const { nats } = await config.at(null);
  const connection = await findConnection({ flags, nats, env, cwd: folder });
  if (connection.kind !== "server") throw new Error(`it is ${connection.kind}`);
  const { servers, access } = connection.server;
  // A server that refuses a certificate just goes silent.
  const link = await openNatsLink({ servers, access, connectTimeoutMs: 500 });
  try {
    const { created } = await ensureStreams({ link });
    return { created, version: link.connection.info?.version };
  } finally {
    await link.close();
  }
}

async function openWays(test: Pick<TestContext, "onTestFinished">) {
  const folder = await tempFolder("ways", test);
  const start = async (options: Parameters<typeof startNatsServer>[0]): Promise<NatsServer> => {
    const server = await startNatsServer(options);
    test.onTestFinished(() => server.stop());
    return server;
  };
  const keep = async (name: string, text: string): Promise<string> => {
    await writeFile(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const operator = createNatsOperator();
  const [member, stranger] = [operator.user(), createNatsOperator().user()];
  const old = operator.user({ expiresAt: new Date("2020-01-01") });
  const [key, otherKey] = [nkeys.createUser(), nkeys.createUser()];
  const seedOf = (pair: typeof key): string => new TextDecoder().decode(pair.getSeed());
  const users = `authorization {users: [{nkey: ${key.getPublicKey()}}]}`;
  const [certificates, foreign] = await Promise.all(
    ["own", "foreign"].map(async (name) => {
      await mkdir(path.join(folder, name));
      return await makeCertificates(path.join(folder, name));
    }),
  );
  if (!certificates || !foreign) throw new Error("no certificates");
  const { ca, cert, key: certKey } = certificates;
  const mutual = ["--tls", "--tlscert", cert, "--tlskey", certKey, "--tlsverify", "--tlscacert", ca];
  const ways: Record<CredentialKindName, CredentialKind> = {
    "a creds file": {
      server: await start({ config: operator.config() }),
      right: { creds: await keep("member.creds", member.creds) },
      wrong: { creds: await keep("stranger.creds", stranger.creds) },
      secrets: [stranger.seed, stranger.jwt],
    },
    "an nkey": {
      server: await start({ config: users }),
      right: { nkey: await keep("right.nk", seedOf(key)) },
      wrong: { nkey: await keep("wrong.nk", `${seedOf(otherKey)}\n`) },
      secrets: [seedOf(otherKey)],
    },
    "a token": {
      server: await start({ flags: ["--auth", "token-of-the-team"] }),
      right: { token: "token-of-the-team" },
      wrong: { token: "token-of-others" },
      secrets: ["token-of-others"],
    },
    "a user and a password": {
      server: await start({ flags: ["--user", "ada", "--pass", "pass-of-ada"] }),
      right: { user: "ada", password: "pass-of-ada" },
      wrong: { user: "ada", password: "pass-of-eve" },
      secrets: ["pass-of-eve"],
    },
    "a client's certificate": {
      server: await start({ flags: mutual }),
      right: { ca, cert, key: certKey },
      wrong: { ca, cert: foreign.cert, key: foreign.key },
      secrets: (await readFile(foreign.key, "utf8")).split("\n").filter((line) => !line.startsWith("-") && line !== ""),
    },
  };
  return { ways, expired: old.creds };
}
