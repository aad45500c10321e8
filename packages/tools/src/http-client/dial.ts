import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Target } from "./ssrf-guard.ts";

/** Opens a connection to addresses that have been checked, and to no others. */
export type Dial = (target: Target) => Socket;

/**
 * The name is not looked up again: its checked addresses are the answer. Of several, Node tries one after the other. The
 * certificate is held against the name, not the address.
 */
export const dial: Dial = (target) => {
  const { url, host, port } = target;
  const where = { host, port, lookup: answering(target), autoSelectFamily: true };
  if (url.protocol === "http:") return connectTcp(where);
  // Said here, no variable of the environment can say otherwise.
  const rejectUnauthorized = true;
  return connectTls({ ...where, rejectUnauthorized, servername: isIP(host) ? "" : host, ALPNProtocols: ["http/1.1"] });
};

function answering({ addresses }: Target): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all) return callback(null, found);
    const [first] = found;
    return first ? callback(null, first.address, first.family) : callback(new Error("no address"), "", 0);
  };
}
