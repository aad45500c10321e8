import type { SessionRow } from "@troupe/core";
import type { KeyboardEvent } from "react";
import { Composer, type Draft } from "./composer.tsx";
import { SessionItem } from "./session-item.tsx";

/** All sessions, newest first, under the form that starts another. */
export function Sidebar({
  sessions,
  selected,
  ...draft
}: { sessions: readonly SessionRow[]; selected: string | null } & Draft) {
  return (
    <nav className="sidebar" aria-label="Sessions">
      <Composer {...draft} />
      <h2 className="list-title">
        Sessions <span className="soft">{sessions.length}</span>
      </h2>
      <ul className="session-list" onKeyDown={moveFocus}>
        {sessions.map((row) => (
          <SessionItem key={row.session} row={row} selected={row.session === selected} />
        ))}
      </ul>
    </nav>
  );
}

function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll("a")];
  links[links.findIndex((link) => link.matches(":focus")) + step]?.focus();
  event.preventDefault();
}
