import { nkeys } from "@nats-io/transport-node";

/** An operator with one account, as a server of the kind that knows its users by JWT alone trusts it. */
export interface NatsOperator {
  /** The server's configuration; with users that it is no longer to let in. */
  config(options?: { revoked?: readonly NatsUser[] }): string;
  /** One more user of the account. */
  user(options?: NatsUserOptions): NatsUser;
}

export interface NatsUser {
  /** The public key. */
  id: string;
  seed: string;
  jwt: string;
  /** The text of a creds file. */
  creds: string;
}

export interface NatsUserOptions {
  /** By the second, as the server's clock has it. @default never */
  expiresAt?: Date;
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** All keys are of this test's own. */
export function createNatsOperator(): NatsOperator {
  const operator = nkeys.createOperator();
  const [account, system] = [nkeys.createAccount(), nkeys.createAccount()];
  const accountJwt = (of: KeyPair, nats: object): string =>
    signedBy(operator, of.getPublicKey(), { type: "account", limits: unlimited, ...nats });
  // The same in each configuration: a server may be given another one for its accounts only.
  const operatorJwt = signedBy(operator, operator.getPublicKey(), { type: "operator" });
  const systemJwt = accountJwt(system, {});
  return {
    config({ revoked = [] } = {}) {
      const nowS = Math.floor(Date.now() / 1000);
      const revocations = Object.fromEntries(revoked.map(({ id }) => [id, nowS]));
      const preload = [
        [account, accountJwt(account, { limits: { ...unlimited, ...stored }, revocations })],
        [system, systemJwt],
      ] as const;
      return [
        `operator: ${operatorJwt}`,
        `system_account: ${system.getPublicKey()}`,
        "resolver: MEMORY",
        "resolver_preload: {",
        ...preload.map(([of, jwt]) => `  ${of.getPublicKey()}: ${jwt}`),
        "}",
        "",
      ].join("\n");
    },
    user({ expiresAt } = {}) {
      const user = nkeys.createUser();
      const id = user.getPublicKey();
      const seed = new TextDecoder().decode(user.getSeed());
      const until = expiresAt ? { exp: Math.floor(expiresAt.getTime() / 1000) } : {};
      const jwt = signedBy(account, id, { type: "user", ...unlimited }, until);
      return { id, seed, jwt, creds: credsFile(jwt, seed) };
    },
  };
}

const unlimited = {
  ...{ subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 },
};
/** An account that names none of these may store nothing. */
const stored = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

/** A JWT as NATS has them: version 2, signed with an nkey. */
function signedBy(issuer: KeyPair, subject: string, nats: object, claims: object = {}): string {
  const claimsSet = {
    jti: nkeys.createUser().getPublicKey(),
    iat: Math.floor(Date.now() / 1000) - 1,
    ...{ iss: issuer.getPublicKey(), name: "test", sub: subject, ...claims },
    nats: { ...nats, version: 2 },
  };
  const text = [{ typ: "JWT", alg: "ed25519-nkey" }, claimsSet].map(encoded).join(".");
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** As `nsc generate creds` writes it. */
function credsFile(jwt: string, seed: string): string {
  return [
    "-----BEGIN NATS USER JWT-----",
    jwt,
    "------END NATS USER JWT------",
    "",
    "************************* IMPORTANT *************************",
    "NKEY Seed printed below can be used to sign and prove identity.",
    "",
    "-----BEGIN USER NKEY SEED-----",
    seed,
    "------END USER NKEY SEED------",
    "",
  ].join("\n");
}
