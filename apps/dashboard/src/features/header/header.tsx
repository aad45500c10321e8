import { type ReactNode, useEffect, useState } from "react";
import { Glyph } from "../../components/icons.tsx";
import { RouteLink } from "../../components/route-link.tsx";
import { waitingOf } from "../../lib/approvals.ts";
import { stopClock } from "../../lib/clock.ts";
import { useRoute } from "../../lib/navigation.ts";
import { useDaemon, usePage } from "../../lib/page-context.ts";
import type { Connection } from "../../lib/store.ts";
import { applyTheme, nextTheme, storedTheme } from "../../lib/theme.ts";
import { HelpButton } from "./help.tsx";

const connectionLabels: Record<Connection, string> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Disconnected",
  unauthorised: "Not authorised",
};

/** The header bar: connection, provider, counts and links. */
export function Header() {
  const connection = usePage((state) => state.connection);
  const status = usePage((state) => state.status);
  return (
    <header className="bar">
      <h1 className="wordmark">troupe</h1>
      <p className="connection" data-testid="connection" data-state={connection}>
        <i aria-hidden="true" />
        {connectionLabels[connection]}
      </p>
      {status && connection !== "unauthorised" && (
        <>
          <p className="provider" title={`bus: ${status.bus} · store: ${status.store} · home: ${status.home}`}>
            <span className="key">Provider</span> <bdi data-demo={status.demo}>{status.provider}</bdi>
          </p>
          <Counts />
          <ApprovalsLink />
          <ViewLink view="agents" className="bar-link">
            Agents
          </ViewLink>
          <ViewLink view="hosts" className="bar-link">
            Hosts
          </ViewLink>
        </>
      )}
      <div className="bar-end">
        <ThemeButton />
        <HelpButton />
      </div>
    </header>
  );
}

/** Shows since when the connection is lost, and stops the clock of the page. */
export function LostBanner() {
  const daemon = useDaemon();
  const lostAt = usePage((state) => state.lostAt);
  useEffect(() => stopClock(lostAt), [lostAt]);
  const isLoaded = usePage((state) => state.sessions !== null);
  if (lostAt === null || !isLoaded) return null;
  return (
    <div className="banner" role="status">
      <p>
        <b>Disconnected since {new Date(lostAt).toLocaleTimeString()}.</b> The page shows the state at that time and
        reconnects by itself. If the daemon was stopped, start it with <code>troupe up</code>: unfinished runs continue.
      </p>
      <button type="button" onClick={() => daemon.retry()}>
        Try now
      </button>
    </div>
  );
}

/** Shows the conditions that hold back work, such as a full disk, each with the next step. */
export function WarningBanner() {
  const warnings = usePage((state) => state.status?.warnings);
  if (warnings === undefined || warnings.length === 0) return null;
  return (
    <div className="banner" role="status" data-testid="warnings">
      {warnings.map((warning) => (
        <p key={warning}>
          <bdi>{warning}</bdi>
        </p>
      ))}
    </div>
  );
}

function Counts() {
  const running = usePage((state) => (state.sessions ?? []).filter((row) => row.status === "running").length);
  const failed = usePage(
    (state) => (state.sessions ?? []).filter((row) => row.status === "failed" || row.status === "timeout").length,
  );
  return (
    <p className="counts">
      <span data-count="running" data-zero={running === 0}>
        <b>{running}</b> running
      </span>
      <span data-count="failed" data-zero={failed === 0}>
        <b>{failed}</b> failed
      </span>
    </p>
  );
}

/** The link to the approvals, with the number of waiting ones. */
function ApprovalsLink() {
  const waiting = usePage((state) => waitingOf(state.approvals).length);
  return (
    <ViewLink view="approvals" className="approvals-link" waiting={waiting}>
      Approvals
      {waiting > 0 && (
        <>
          {" "}
          <b>{waiting}</b>
          <span className="visually-hidden"> waiting</span>
        </>
      )}
    </ViewLink>
  );
}

interface ViewLinkProps {
  view: "approvals" | "hosts" | "agents";
  className: string;
  waiting?: number;
  children: ReactNode;
}

/** A link to a view. It is marked while the page shows that view. */
function ViewLink({ view, className, waiting, children }: ViewLinkProps) {
  const { view: current } = useRoute();
  return (
    <RouteLink
      className={className}
      to={{ view }}
      aria-current={current === view ? "page" : undefined}
      data-testid={`${view}-link`}
      data-waiting={waiting}
    >
      {children}
    </RouteLink>
  );
}

/** Switches between the themes system, light and dark. */
function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  const next = nextTheme(theme);
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={`Theme: ${theme}. Switch to ${next}.`}
      title={`Theme: ${theme}`}
      onClick={() => {
        applyTheme(next);
        setTheme(next);
      }}
    >
      <Glyph name={theme} />
    </button>
  );
}
