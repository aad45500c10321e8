/** Deliveries that this process cannot run: they are counted, logged once for each reason, and have no effect. */

import { type Logger, silentLogger } from "@troupe/core";
import { createInvalidMessages, type InvalidMessages } from "@troupe/core/internal";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestLink, type TestLink } from "../connection/link.fixture.ts";
import { deliveryOf } from "./delivery.fixture.ts";
import { createInvalidTasks, type InvalidTasks } from "./invalid-tasks.ts";

let link: TestLink;
let invalidMessages: InvalidMessages;
let invalidTasks: InvalidTasks;
let logged: string[];

beforeEach(() => {
  link = createTestLink();
  invalidMessages = createInvalidMessages();
  logged = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void logged.push(message) } as Logger;
  invalidTasks = createInvalidTasks({ link, logger, leaseMs: 8_000, invalidMessages });
});

const requestedAt = { monotonicMs: 0, wallMs: 0 };

describe("a message that troupe did not offer", () => {
  test("is removed, each one counted and the first one logged", () => {
    for (let seq = 1; seq <= 3; seq += 1)
      invalidTasks.remove(deliveryOf({ requestedAt, seq }), "it was not offered by troupe");
    expect(link.sent.map(({ payload }) => payload)).toEqual(["+TERM", "+TERM", "+TERM"]);
    expect([invalidTasks.refused, invalidMessages.counts(), logged.length]).toEqual([3, { "foreign task": 3 }, 1]);
  });
});

describe("a task for another process or a later time", () => {
  test("stays in the queue for a lease, counted once for all of its deliveries", () => {
    for (let count = 1; count <= 3; count += 1)
      invalidTasks.putOff(deliveryOf({ requestedAt, count }), "of a newer version");
    expect(new Set(link.sent.map(({ payload }) => payload))).toEqual(new Set(['-NAK {"delay":8000000000}']));
    expect([invalidTasks.refused, invalidMessages.counts(), logged]).toEqual([
      0,
      { "newer task": 1 },
      ["task left to others"],
    ]);
  });

  test("is not acknowledged without a connection: the server delivers it again", () => {
    link.disconnect();
    invalidTasks.remove(deliveryOf({ requestedAt }), "x");
    invalidTasks.putOff(deliveryOf({ requestedAt }), "x");
    expect(link.sent).toEqual([]);
  });
});

test("failed pulls are logged once", () => {
  for (let i = 0; i < 3; i += 1) invalidTasks.pullFailed(new Error("stream not found"));
  expect(logged).toEqual(["tasks cannot be taken at the moment"]);
});
