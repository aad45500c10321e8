import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/**
 * What the disk of this machine is called, so that a daemon and the workers beside it find out that they share it.
 * Containers of one machine may have its id: their names tell them apart.
 */
export function defaultLocality(): string {
  const hash = createHash("sha256").update(`${machineId()}\n${hostname()}`).digest("hex");
  return `m${hash.slice(0, 12)}`;
}

function machineId(): string {
  for (const file of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      return readFileSync(file, "utf8").trim();
    } catch {
      // Not every system has one; its name has to do there.
    }
  }
  return "";
}
