import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { cleanUpAtExit } from "./cleanup-at-exit.ts";
import type { Scope } from "./scope.ts";

const run = promisify(execFile);

/** A machine of its own, as far as the network is concerned: its own loopback, and one cable to the others. */
export interface HostNamespace {
  name: string;
  address: string;
  /** A command as it has to be called to run on that machine. */
  inside(command: string, args: string[]): { command: string; args: string[] };
  /** The cable, both ways. */
  unplug(): Promise<void>;
  plugIn(): Promise<void>;
  /** One direction only: the machine's packets are dropped, packets to it arrive. */
  mute(): Promise<void>;
  unmute(): Promise<void>;
}

export interface TestNetwork {
  /** Address of this machine for all hosts of the network. */
  address: string;
  hosts: HostNamespace[];
}

/** Whether this process may make network namespaces. */
export async function canMakeNamespaces(): Promise<boolean> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const probe = `trp-${process.pid}-try`;
  try {
    await ip("netns", "add", probe);
    await ip("netns", "del", probe);
    return true;
  } catch {
    return false;
  }
}

let networks = 0;

/**
 * So many machines on one switch, as network namespaces. Their addresses are of a range that is meant for trying things
 * out (198.18.0.0/15), and nothing leaves this machine.
 */
export async function createNetwork(count: number, scope: Scope): Promise<TestNetwork> {
  networks += 1;
  const mark = `${process.pid.toString(36)}${networks.toString(36)}`;
  const net = `198.${18 + ((process.pid >> 8) & 1)}.${(process.pid + 61 * networks) & 0xff}`;
  const bridge = `trp${mark}`;
  await ip("link", "add", bridge, "type", "bridge");
  cleanUpAtExit(scope, "ip", "link", "del", bridge);
  await ip("addr", "add", `${net}.1/24`, "dev", bridge);
  await ip("link", "set", bridge, "up");
  const hosts: HostNamespace[] = [];
  for (let i = 0; i < count; i += 1) hosts.push(await addHost(i, { mark, net, bridge, scope }));
  return { address: `${net}.1`, hosts };
}

async function addHost(
  i: number,
  { mark, net, bridge, scope }: { mark: string; net: string; bridge: string; scope: Scope },
): Promise<HostNamespace> {
  const name = `trp-${mark}-${i}`;
  const cable = `trp${mark}x${i}`;
  const address = `${net}.${10 + i}`;
  const ipInside = (...args: string[]): Promise<void> => ip("-n", name, ...args);
  await ip("netns", "add", name);
  cleanUpAtExit(scope, "ip", "netns", "del", name);
  await ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name);
  // A namespace lingers for as long as a connection in it does, and would keep the cable.
  cleanUpAtExit(scope, "ip", "link", "del", cable);
  await ip("link", "set", cable, "master", bridge, "up");
  await ipInside("addr", "add", `${address}/24`, "dev", "eth0");
  await ipInside("link", "set", "lo", "up");
  await ipInside("link", "set", "eth0", "up");
  return {
    name,
    address,
    inside: (command, args) => ({ command: "ip", args: ["netns", "exec", name, command, ...args] }),
    unplug: () => ip("link", "set", cable, "down"),
    plugIn: () => ip("link", "set", cable, "up"),
    mute: () => ipInside("route", "add", "blackhole", `${net}.1/32`),
    unmute: () => ipInside("route", "del", "blackhole", `${net}.1/32`),
  };
}

async function ip(...args: string[]): Promise<void> {
  await run("ip", args);
}
