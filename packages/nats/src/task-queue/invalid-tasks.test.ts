/** What comes out of the work queue and is nothing for this process: counted, logged once of its kind, without effect. */

import { type Logger, silentLogger } from "@troupe/core";
import { createInvalidMessages, type InvalidMessages } from "@troupe/core/internal";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestLink, deliveryOf, type TestLink } from "../connection/link.fixture.ts";
import { createInvalidTasks, type InvalidTasks } from "./invalid-tasks.ts";

let link: TestLink;
let invalidMessages: InvalidMessages;
let strays: InvalidTasks;
let logged: string[];

beforeEach(() => {
  link = createTestLink();
  invalidMessages = createInvalidMessages();
  logged = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void logged.push(message) } as Logger;
  strays = createInvalidTasks({ link, logger, leaseMs: 8_000, invalidMessages });
});

const askedAt = { monotonicMs: 0, wallMs: 0 };

describe("what was not offered by troupe", () => {
  test("goes, each of them counted and the first of its kind logged", () => {
    for (let seq = 1; seq <= 3; seq += 1) strays.end(deliveryOf({ askedAt, seq }), "it was not offered by troupe");
    expect(link.said.map(({ word }) => word)).toEqual(["+TERM", "+TERM", "+TERM"]);
    expect([strays.refused, invalidMessages.counts(), logged.length]).toEqual([3, { "foreign task": 3 }, 1]);
  });
});

describe("what may make sense to others, or later", () => {
  test("is left in the queue for a lease, counted once however often it comes", () => {
    for (let count = 1; count <= 3; count += 1) strays.leave(deliveryOf({ askedAt, count }), "of a newer version");
    expect(new Set(link.said.map(({ word }) => word))).toEqual(new Set(['-NAK {"delay":8000000000}']));
    expect([strays.refused, invalidMessages.counts(), logged]).toEqual([
      0,
      { "newer task": 1 },
      ["task left to others"],
    ]);
  });

  test("is not answered without a connection: it comes again by itself", () => {
    link.disconnect();
    strays.end(deliveryOf({ askedAt }), "x");
    strays.leave(deliveryOf({ askedAt }), "x");
    expect(link.said).toEqual([]);
  });
});

test("a queue that gives nothing is logged once", () => {
  for (let i = 0; i < 3; i += 1) strays.outage(new Error("stream not found"));
  expect(logged).toEqual(["tasks cannot be taken for now"]);
});
