import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { StatusFields } from "../lib/status.ts";
import { StatusBadge } from "./badges.tsx";
import { RoleIcon } from "./icons.tsx";

const drawn = (markup: string): string[] => markup.match(/ d="[^"]+"/g) ?? [];

describe("a role", () => {
  const roles = ["user", "main", "coder", "tester", "reviewer", "planner", "debugger"];
  const iconOf = (agent: string): string => renderToStaticMarkup(createElement(RoleIcon, { agent }));

  it.each(roles)("%s has an icon of its own", (role) => {
    const others = [...roles, "stranger"].filter((other) => other !== role);
    expect(iconOf(role)).toContain(`data-role="${role}"`);
    expect(drawn(iconOf(role))).toHaveLength(1);
    expect(others.map((other) => drawn(iconOf(other)))).not.toContainEqual(drawn(iconOf(role)));
  });
});

describe("a status", () => {
  const statuses = ["completed", "running", "failed", "timeout"] as const;
  const badgeOf = (row: StatusFields): string => renderToStaticMarkup(createElement(StatusBadge, { row }));

  it.each(statuses)("%s has a badge with its word and a glyph of its own", (status) => {
    const badge = badgeOf({ status, exactStatus: status });
    expect(badge).toContain(`data-kind="${status}"`);
    expect(badge.replace(/<[^>]+>/g, "")).toBe(status);
    const others = statuses.filter((other) => other !== status).map((other) => drawn(badgeOf({ status: other })));
    expect(drawn(badge)).not.toEqual([]);
    expect(others).not.toContainEqual(drawn(badge));
  });
});
