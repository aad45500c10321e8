import type { MouseEvent } from "react";
import { addressOf, selectHosts, useSelection } from "../../lib/selection.ts";

/** On every page: the way to the processes that run agents. */
export function HostsLink() {
  const { view } = useSelection();
  const open = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    selectHosts();
  };
  return (
    <a
      className="bar-link"
      href={addressOf({ session: null, run: null, view: "hosts" })}
      aria-current={view === "hosts" ? "page" : undefined}
      data-testid="hosts-link"
      onClick={open}
    >
      Hosts
    </a>
  );
}
