import { TroupeError } from "@troupe/core";
import { expect, it } from "vitest";
import { createBlobsOver } from "./blobs.ts";
import type { NatsLink } from "./connection/link.ts";
import type { Requester } from "./connection/requester.ts";

it("a blob that nobody takes between two leaders is no sign of a stream that was lost", async () => {
  const asks: Requester = {
    ask: () => Promise.reject(new Error("nobody asks for several answers")),
    async askOnce({ subject }) {
      if (!subject.startsWith("$JS.API.")) throw new TroupeError("NO_RESPONDERS", `nobody answers at ${subject}`);
      return JSON.stringify({ error: { err_code: 10037 } });
    },
    close() {},
  };
  const blobs = createBlobsOver(asks, { link: { payloadBytesMax: 1_000_000 } as NatsLink, namespace: "t" });
  await expect(blobs.put(Buffer.from("x"))).rejects.toMatchObject({ code: "UNREACHABLE" });
});
