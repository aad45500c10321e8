import { TroupeError } from "@troupe/core";
import { expect, it } from "vitest";
import { createBlobsOver } from "./blobs.ts";
import type { NatsLink } from "./connection/link.ts";
import type { Requester } from "./connection/requester.ts";

it("a blob that is put between two leaders does not report a lost stream", async () => {
  const requester: Requester = {
    requestMany: () => Promise.reject(new Error("unexpected request for many replies")),
    async request({ subject }) {
      if (!subject.startsWith("$JS.API.")) throw new TroupeError("NO_RESPONDERS", `no process answers at ${subject}`);
      return JSON.stringify({ error: { err_code: 10037 } });
    },
    close() {},
  };
  const blobs = createBlobsOver(requester, { link: { payloadBytesMax: 1_000_000 } as NatsLink, namespace: "t" });
  await expect(blobs.put(Buffer.from("x"))).rejects.toMatchObject({ code: "UNREACHABLE" });
});
