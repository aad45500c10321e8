/** The doctor's check of the NATS connection. */
import { TroupeError } from "@troupe/core";
import { afterEach, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { checkBus } from "./system.ts";

afterEach(removeTemporaryFolders);

const found = { server: "nats://h:4222", version: "2.15.1", namespace: "troupe", warnings: [] as string[] };
const detail = "nats://h:4222 answers: nats-server 2.15.1 with JetStream, namespace troupe";

test.each([
  ["no server is configured", null, { status: "ok", detail: "in-process" }],
  ["no warnings", found, { status: "ok", detail }],
  ["two warnings", { ...found, warnings: ["a", "b"] }, { status: "warn", detail: `${detail}; a (and 1 more)` }],
])("%s", async (_name, nats, check) => {
  const cli = createFakeCli();
  cli.composition.nats = nats;
  expect(await checkBus(cli)).toMatchObject({ name: "bus", ...check });
});

test("the server is not reachable", async () => {
  const cli = createFakeCli();
  const error = new TroupeError("UNREACHABLE", "no NATS server answers at nats://h:4222", { fix: "start one" });
  cli.composition.checkNats = () => Promise.reject(error);
  expect(await checkBus(cli)).toEqual({ name: "bus", status: "fail", detail: error.message, fix: "start one" });
});
