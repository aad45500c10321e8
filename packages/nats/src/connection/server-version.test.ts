import { describe, expect, it } from "vitest";
import { checkServer, serverWarnings } from "./server-version.ts";

/** Supported server versions, and versions with vulnerabilities. */

describe("a server's version", () => {
  it.each(["2.9.10", "2.10.29", "1.4.1", "v2.10.0"])("%s is too old, and the error says what to do", (version) => {
    expect(() => checkServer({ version }, "nats://somewhere:4222")).toThrow(
      expect.objectContaining({
        code: "UNSUPPORTED_SERVER",
        message: expect.stringContaining("nats://somewhere:4222"),
        fix: expect.stringContaining("2.14.0"),
      }),
    );
  });

  it.each([
    { version: "2.11.0", warned: true },
    { version: "2.11.15", warned: true },
    { version: "2.11.16", warned: false },
    { version: "2.12.6-binary", warned: true },
    { version: "2.12.7", warned: false },
    { version: "2.13.9", warned: true },
    { version: "2.14.0", warned: false },
    { version: "2.15.1", warned: false },
    { version: "3.0.0", warned: false },
    { version: "built by hand", warned: false },
  ])("$version is supported, with a warning: $warned", ({ version, warned }) => {
    checkServer({ version }, "nats://somewhere:4222");
    const warnings = serverWarnings({ version });
    expect(warnings).toHaveLength(warned ? 1 : 0);
    if (warned) expect(warnings[0]).toMatch(/CVE-2025-30215.*CVE-2026-27889.*2026-16.*2026-18/);
  });
});
