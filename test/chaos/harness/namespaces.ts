import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Scope } from "./scope.ts";
import { undoneAtExit } from "./undone-at-exit.ts";

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
  /** One way only: what it says goes nowhere, what it is told arrives. */
  mute(): Promise<void>;
  unmute(): Promise<void>;
}

export interface Cabling {
  /** Where whoever is on this machine itself is reached by all of them. */
  address: string;
  hosts: HostNamespace[];
}

/** Whether this process may make network namespaces. */
export async function canMakeNamespaces(): Promise<boolean> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const failpoint = `trp-${process.pid}-try`;
  try {
    await ip("netns", "add", failpoint);
    await ip("netns", "del", failpoint);
    return true;
  } catch {
    return false;
  }
}

let cablings = 0;

/**
 * So many machines on one switch, as network namespaces. Their addresses are of a range that is meant for trying things
 * out (198.18.0.0/15), and nothing leaves this machine.
 */
export async function layCables(count: number, scope: Scope): Promise<Cabling> {
  cablings += 1;
  const mark = `${process.pid.toString(36)}${cablings.toString(36)}`;
  const net = `198.${18 + ((process.pid >> 8) & 1)}.${(process.pid + 61 * cablings) & 0xff}`;
  const bridge = `trp${mark}`;
  await ip("link", "add", bridge, "type", "bridge");
  undoneAtExit(scope, "ip", "link", "del", bridge);
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
  const there = (...args: string[]): Promise<void> => ip("-n", name, ...args);
  await ip("netns", "add", name);
  undoneAtExit(scope, "ip", "netns", "del", name);
  await ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name);
  // A namespace lingers for as long as a connection in it does, and would keep the cable.
  undoneAtExit(scope, "ip", "link", "del", cable);
  await ip("link", "set", cable, "master", bridge, "up");
  await there("addr", "add", `${address}/24`, "dev", "eth0");
  await there("link", "set", "lo", "up");
  await there("link", "set", "eth0", "up");
  return {
    name,
    address,
    inside: (command, args) => ({ command: "ip", args: ["netns", "exec", name, command, ...args] }),
    unplug: () => ip("link", "set", cable, "down"),
    plugIn: () => ip("link", "set", cable, "up"),
    mute: () => there("route", "add", "blackhole", `${net}.1/32`),
    unmute: () => there("route", "del", "blackhole", `${net}.1/32`),
  };
}

async function ip(...args: string[]): Promise<void> {
  await run("ip", args);
}
