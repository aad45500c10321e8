import type { PeerCertificate } from "node:tls";
import { describe, expect, it } from "vitest";
import { identityCheck } from "./servers.ts";

const given = ["nats://10.0.0.1:4222"];
const discovered = () => ["10.0.0.1:4222", "10.0.0.2:4222", "[fd00::3]:4222", "nats.example:4222"];

describe("the certificate of a server with an IP address", () => {
  it.each([
    { names: "10.0.0.1", is: "trusted", why: "it was given" },
    { names: "10.0.0.2", is: "trusted", why: "the cluster has announced it" },
    { names: "fd00::3", is: "trusted", why: "the cluster has announced it, too" },
    { names: "10.0.0.9", is: "refused", why: "it is unknown" },
  ])("that names $names is $is: $why", ({ names, is }) => {
    const problem = identityCheck(given, discovered)?.("localhost", certificateFor(names));
    expect(problem === undefined ? "trusted" : "refused").toBe(is);
  });

  it("that names an address that was not announced yet is refused", () => {
    expect(identityCheck(given)?.("localhost", certificateFor("10.0.0.2"))).toBeInstanceOf(Error);
  });

  it("is left to the client library if all addresses are names", () => {
    expect(identityCheck(["nats://nats.example:4222"], discovered)).toBeNull();
  });
});

function certificateFor(address: string): PeerCertificate {
  return { subject: { CN: "nats" }, subjectaltname: `IP Address:${address}` } as PeerCertificate;
}
