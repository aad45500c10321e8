import { usePage } from "../../lib/page-context.ts";
import type { Connection } from "../../lib/store.ts";
import { ApprovalsLink } from "./approvals-link.tsx";
import { HelpButton } from "./help.tsx";
import { HostsLink } from "./hosts-link.tsx";
import { ThemeButton } from "./theme-button.tsx";

const connectionWords: Record<Connection, string> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Disconnected",
  unauthorised: "Not authorised",
};

/** The bar: is this live, who answers, does anything need me. */
export function Header() {
  const connection = usePage((state) => state.connection);
  const status = usePage((state) => state.status);
  return (
    <header className="bar">
      <h1 className="wordmark">troupe</h1>
      <p className="connection" data-testid="connection" data-state={connection}>
        <i aria-hidden="true" />
        {connectionWords[connection]}
      </p>
      {status && connection !== "unauthorised" && (
        <>
          <p className="provider" title={`bus: ${status.bus} · store: ${status.store} · home: ${status.home}`}>
            <span className="key">Provider</span> <bdi data-demo={status.demo}>{status.provider}</bdi>
          </p>
          <Counts />
          <ApprovalsLink />
          <HostsLink />
        </>
      )}
      <div className="bar-end">
        <ThemeButton />
        <HelpButton />
      </div>
    </header>
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
