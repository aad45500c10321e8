import { connect } from "node:net";
import type { Cli } from "../cli.ts";
import { toTroupeError } from "../render/failure.ts";
import { finding, type SetupFinding } from "./finding.ts";

const connectTimeoutMs = 500;

/**
 * Tests the configured NATS server; without one, a server on the usual port of this machine. It changes nothing on the
 * server.
 *
 * @param usual the address to try if no server is configured
 */
export async function findNats(
  cli: Pick<Cli, "composition" | "home" | "cwd">,
  env: NodeJS.ProcessEnv,
  usual = { host: "127.0.0.1", port: 4_222 },
): Promise<SetupFinding> {
  const { composition, home, cwd } = cli;
  const address = `nats://${usual.host}:${usual.port}`;
  try {
    const configured = await composition.checkNats({ home, env, cwd });
    if (configured) return finding("nats", "NATS", "works", { detail: describe(configured) });
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return finding("nats", "NATS", "fails", { detail: message, fix });
  }
  if (!(await accepts(usual))) {
    const detail = `no server at ${address}; only work on several machines needs one`;
    return finding("nats", "NATS", "absent", { detail });
  }
  try {
    const found = await composition.checkNats({ home, env: { ...env, NATS_URL: address }, cwd });
    const detail = found ? `${describe(found)}; not used until you name it` : `${address} accepts connections`;
    return finding("nats", "NATS", "works", { detail, fix: `troupe up --nats ${address}` });
  } catch (error) {
    const { message } = toTroupeError(error);
    return finding("nats", "NATS", "fails", { detail: message, fix: `export NATS_URL=${address} and its credentials` });
  }
}

function describe({ server, version }: { server: string; version: string }): string {
  return `${server} answers: nats-server ${version} with JetStream`;
}

/** True if a server of any kind listens at the address. */
function accepts({ host, port }: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: connectTimeoutMs });
    const settle = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    socket.once("timeout", () => settle(false));
  });
}
