import { TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
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
  const link = { payloadBytesMax: 1_000_000 } as NatsLink;
  const blobs = createBlobsOver(requester, { link, namespace: "t", clock: systemClock() });
  await expect(blobs.put(Buffer.from("x"))).rejects.toMatchObject({ code: "UNREACHABLE" });
});

it("a put that another process has won waits until it can read the winner's blob", async () => {
  let reads = 0;
  const winner = { name: "h", nuid: "theirs", size: 1, chunks: 1 };
  const message = { subject: "$O.t_blobs.M.h", seq: 7, data: Buffer.from(JSON.stringify(winner)).toString("base64") };
  const requester: Requester = {
    requestMany: () => Promise.reject(new Error("unexpected request for many replies")),
    async request({ subject }) {
      if (subject.startsWith("$JS.API.STREAM.MSG.GET")) {
        reads += 1;
        return JSON.stringify(reads < 4 ? { error: { err_code: 10037 } } : { message });
      }
      if (subject.startsWith("$O.") && subject.includes(".M.")) return JSON.stringify({ error: { err_code: 10164 } });
      return JSON.stringify({ seq: 1 });
    },
    close() {},
  };
  const link = { payloadBytesMax: 1_000_000 } as NatsLink;
  const blobs = createBlobsOver(requester, { link, namespace: "t", clock: systemClock() });
  await blobs.put(Buffer.from("x"));
  expect(reads).toBe(4);
});
