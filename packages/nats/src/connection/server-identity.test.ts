import type { PeerCertificate } from "node:tls";
import { describe, expect, it } from "vitest";
import { identityOf } from "./server-identity.ts";

const given = ["nats://10.0.0.1:4222"];
const learned = () => ["10.0.0.1:4222", "10.0.0.2:4222", "[fd00::3]:4222", "nats.example:4222"];

describe("a server's certificate, where the address is a number", () => {
  it.each([
    { names: "10.0.0.1", is: "trusted", why: "it was given" },
    { names: "10.0.0.2", is: "trusted", why: "a server of the cluster has told it" },
    { names: "fd00::3", is: "trusted", why: "so has it told that" },
    { names: "10.0.0.9", is: "refused", why: "nobody has named it" },
  ])("that names $names is $is: $why", ({ names, is }) => {
    const problem = identityOf(given, learned)?.("localhost", certificateFor(names));
    expect(problem === undefined ? "trusted" : "refused").toBe(is);
  });

  it("that names an address which nobody has told yet is refused", () => {
    expect(identityOf(given)?.("localhost", certificateFor("10.0.0.2"))).toBeInstanceOf(Error);
  });

  it("is left to the client library where all addresses are names", () => {
    expect(identityOf(["nats://nats.example:4222"], learned)).toBeNull();
  });
});

function certificateFor(address: string): PeerCertificate {
  return { subject: { CN: "nats" }, subjectaltname: `IP Address:${address}` } as PeerCertificate;
}
