import type { ToolContext } from "@troupe/core";
import type { Connector } from "../../ports/connection.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { Connectors } from "../../ports/connectors.ts";
import { type RetryOptions, withRetries } from "./retries.ts";
import type { OfficeToolDeps } from "./tool-options.ts";

/** One call of a tool, with the connectors that it uses. */
export interface OfficeCall {
  readonly context: ToolContext;
  readonly deps: OfficeToolDeps;
  /** The key of creates and sends: the same for every try of the call. */
  readonly key: { idempotencyKey: string };
  /** A connection whose access, rights and limits have been checked. */
  connect<Port extends keyof Connectors>(
    port: Port,
    use?: { changes: boolean },
  ): Promise<OfficeConnection<Connectors[Port]>>;
}

/** A connection of one call. Every use of the connector has the same retry rules. */
export interface OfficeConnection<Port extends Connector> {
  /** The address or the member id of the user. */
  readonly account: string;
  /** A statement for people about the effect of calls. Null: none. */
  readonly note: string | null;
  /** `done` tells after a lost connection whether the operation had happened: its result, or null. */
  call<Result>(
    operation: (connector: Port) => Promise<Result>,
    done?: (connector: Port) => Promise<Result | null>,
  ): Promise<Result>;
}

/** Facts of a call for its log line. */
export interface CallFacts {
  account: string | null;
  tries: number;
}

/** Creates the connections of one call. `facts` is filled while the call runs. */
export function openCall(tool: string, context: ToolContext, deps: OfficeToolDeps, facts: CallFacts): OfficeCall {
  const connections = new Map<string, Promise<OfficeConnection<Connector>>>();
  const options = { tool, signal: context.signal, wait: deps.wait, onTry: () => (facts.tries += 1) };
  return {
    context,
    deps,
    key: { idempotencyKey: context.idempotencyKey },
    async connect<Port extends keyof Connectors>(port: Port, { changes = false } = {}) {
      const name = `${port} ${changes}`;
      const opened =
        connections.get(name) ??
        deps.connectors(context).then((connectors) => openConnection(connectors[port], { changes, options, facts }));
      connections.set(name, opened);
      return (await opened) as unknown as OfficeConnection<Connectors[Port]>;
    },
  };
}

interface OpenOptions {
  changes: boolean;
  options: Omit<RetryOptions, "refresh">;
  facts: CallFacts;
}

async function openConnection<Port extends Connector>(
  connector: Port,
  { changes, options, facts }: OpenOptions,
): Promise<OfficeConnection<Port>> {
  const access = { isRefreshed: false, isRevoked: false };
  const refresh = async (): Promise<boolean> => {
    if (access.isRefreshed || access.isRevoked || !connector.refresh) return false;
    access.isRefreshed = true;
    await connector.refresh();
    return true;
  };
  const retries = { ...options, refresh };
  const status = await withRetries(async () => checkedStatus(connector, changes, access), {
    ...retries,
    onTry: () => {},
    done: null,
  });
  facts.account = status.account;
  return {
    account: status.account,
    note: status.note,
    call: (operation, done) =>
      withRetries(() => operation(connector), { ...retries, done: done ? () => done(connector) : null }),
  };
}

/** The checks before the first use of a connector: access, rights and the known rate limit. */
async function checkedStatus(connector: Connector, changes: boolean, access: { isRevoked: boolean }) {
  const status = await connector.status();
  const { account, auth, canWrite, rateLimit } = status;
  if (auth !== "valid") {
    access.isRevoked = auth === "revoked";
    throw new ConnectorError("auth", `the access of ${account} is ${auth}`, { fix: "connect the account again" });
  }
  if (changes && !canWrite) {
    throw new ConnectorError("permission", `the connection of ${account} can only read`, {
      fix: "connect the account again with the right to change and send",
    });
  }
  if (rateLimit !== null && rateLimit.remaining <= 0) {
    throw new ConnectorError("rate_limit", `the calls of ${account} are used up for now`, {
      retryAfterS: rateLimit.resetsInS,
    });
  }
  return status;
}
