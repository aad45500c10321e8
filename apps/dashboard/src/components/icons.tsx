import type { ReactNode } from "react";
import { type Role, roleOf } from "../lib/role.ts";

/** Glyphs of buttons. They are decoration: each button has a name. */
const paths = {
  chevron: "m5.5 3.5 4.5 4.5-4.5 4.5",
  close: "m4 4 8 8m0-8-8 8",
  back: "M10 3 5 8l5 5",
  system: "M2.5 3h11v7.5h-11ZM5.5 13.5h5M8 10.5v3",
  light:
    "M8 10.75a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1.050 1.050M11.55 11.55l1.050 1.050M3.4 12.6l1.050-1.050M11.55 4.45l1.050-1.050",
  dark: "M13.25 9.75A5.75 5.75 0 0 1 6.25 2.75a5.75 5.75 0 1 0 7 7Z",
  play: "M4.5 2.75v10.5L13 8Z",
} as const;

export function Glyph({ name }: { name: keyof typeof paths }) {
  return (
    <svg className="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** A 16 × 16 grid and one line width for all icons. */
export const roleIcons = {
  user: (
    <path d="M8 7.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM2.75 14c.4-2.7 2.5-4.25 5.25-4.25s4.85 1.55 5.25 4.25" />
  ),
  main: <path d="M8 1.75v3M8 11.25v3M1.75 8h3M11.25 8h3M8 10.25a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5Z" />,
  coder: <path d="M5 4.25 1.5 8 5 11.75M11 4.25 14.5 8 11 11.75M9.25 2.75l-2.5 10.5" />,
  tester: <path d="M6 2h4M6.75 2v4L3 12.6c-.4.8.1 1.65 1 1.65h8c.9 0 1.4-.85 1-1.65L9.25 6V2M4.75 10h6.5" />,
  reviewer: (
    <path d="M1.5 8S4 3.75 8 3.75 14.5 8 14.5 8 12 12.25 8 12.25 1.5 8 1.5 8ZM8 9.75a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5Z" />
  ),
  planner: <path d="M2 4l1.2 1.2L5.25 3M2 8.5l1.2 1.2 2.05-2.2M2 13l1.2 1.2L5.25 12M8 4h6M8 8.5h6M8 13h6" />,
  debugger: (
    <path d="M5 6.5a3 3 0 0 1 6 0v3.75a3 3 0 0 1-6 0ZM6 4 4.5 2M10 4l1.5-2M5 8.25H1.75M14.25 8.25H11M5 6 2.5 4.5M11 6l2.5-1.5M5 10.75l-2.5 2M11 10.75l2.5 2" />
  ),
  researcher: <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.25 10.25 14 14" />,
  writer: <path d="M10.5 2.5 13.5 5.5 5.5 13.5l-3.5.5.5-3.5ZM8.75 4.25l3 3" />,
  email: <path d="M2 3.75h12v8.5H2ZM2 4.25l6 4.5 6-4.5" />,
  calendar: <path d="M2.25 3.5h11.5v10H2.25ZM2.25 6.75h11.5M5.25 1.75v3M10.75 1.75v3" />,
  contacts: (
    <path d="M3.25 2h9.5v12h-9.5ZM1.75 5h2.5M1.75 8h2.5M1.75 11h2.5M8.5 7.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM6 11.25c.3-1.4 1.2-2 2.5-2s2.2.6 2.5 2" />
  ),
  slack: <path d="M6.25 2 5 14M11 2 9.75 14M2.5 5.75h11.5M2 10.25h11.5" />,
  other: <path d="M8 1.75 13.5 5v6L8 14.25 2.5 11V5Z" />,
} satisfies Record<Role, ReactNode>;

export function RoleIcon({ agent }: { agent: string }) {
  const role = roleOf(agent);
  return (
    <svg className="role" data-role={role} viewBox="0 0 16 16" aria-hidden="true">
      {roleIcons[role]}
    </svg>
  );
}
