/** A request with several parts becomes one message for each domain. */
import { describe, expect, it } from "vitest";
import { planParts } from "./plan-parts.ts";
import { splitRequest } from "./request-parts.ts";

const partsOf = (request: string) => splitRequest(request)?.map(({ match, text }) => [match.domain, text]) ?? null;

describe("a request is split", () => {
  it.each<[string, [string, string][]]>([
    [
      "find Acme's contacts, invite them Tuesday at 2, and post in #project-alpha",
      [
        ["contacts", "find Acme's contacts"],
        ["calendar", "invite them Tuesday at 2"],
        ["slack", "post in #project-alpha"],
      ],
    ],
    [
      "Schedule a meeting with Mara on Monday at 3pm and email her saying see you there",
      [
        ["calendar", "Schedule a meeting with Mara on Monday at 3pm"],
        ["email", "email her saying see you there"],
      ],
    ],
    [
      "Post in #general: the beta is out. Then send an email to Mara about the beta saying it is out",
      [
        ["slack", "Post in #general: the beta is out"],
        ["email", "send an email to Mara about the beta saying it is out"],
      ],
    ],
    [
      "Schedule a meeting with the team next Tuesday 2pm",
      [["calendar", "Schedule a meeting with the team next Tuesday 2pm"]],
    ],
    ["Who works at Globex?", [["contacts", "Who works at Globex?"]]],
    [
      "Summarize #sales; list my meetings tomorrow",
      [
        ["slack", "Summarize #sales"],
        ["calendar", "list my meetings tomorrow"],
      ],
    ],
  ])("%s", (request, parts) => {
    expect(partsOf(request)).toEqual(parts);
  });

  it.each([
    ["the text of a mail", "Send an email to Mara saying read the offer and send the report to Omar"],
    ["a text in quotes", 'post "ship it, and email Mara about lunch" to #general'],
    ["the text of a post", "post in #general: bring a friend, meet me at noon"],
  ])("but not in %s", (_, request) => {
    expect(partsOf(request)).toHaveLength(1);
  });

  it.each([
    ["no domain understands a part", "find Acme's contacts, and write a poem about them"],
    ["no domain understands it", "Paint the fence"],
    ["it is a search without a place", "find a good restaurant"],
    ["it is empty", ""],
  ])("and left to the model if %s", (_, request) => {
    expect(partsOf(request) ?? []).toEqual([]);
  });

  it("in a time that does not explode with its joints", () => {
    const many = "list my meetings and ".repeat(60);
    expect(partsOf(many)).toBeNull();
  });
});

describe("a part", () => {
  const messagesOf = (request: string) =>
    planParts(splitRequest(request) ?? [])?.map(({ message, after }) => [message, after]);

  it("gets the people that an earlier part finds", () => {
    expect(messagesOf("find Acme's contacts, invite them Tuesday at 2, and post in #project-alpha")).toEqual([
      ["find Acme's contacts", []],
      ["invite {people} Tuesday at 2", [0]],
      ["Post in #project-alpha: {outcome}", [0, 1]],
    ]);
  });

  it("gets the people that an earlier part names, at the same time", () => {
    expect(messagesOf("Schedule a call with Mara on Monday at 3pm, and email her about the call")).toEqual([
      ["Schedule a call with Mara on Monday at 3pm", []],
      ["email Mara about the call", []],
    ]);
  });

  it("passes on what was found", () => {
    expect(messagesOf("Summarize #project-alpha and email it to Mara")?.[1]).toEqual([
      "Send an email to Mara with the subject Summarize #project-alpha saying {outcome}",
      [0],
    ]);
  });

  it("whose pronoun means no person is left to the model", () => {
    expect(messagesOf("Summarize #sales, and invite them Tuesday at 2")).toBeUndefined();
  });
});
