import { CopyButton } from "../../components/copy-button.tsx";
import { serverOf } from "../../lib/hosts.ts";
import { usePage } from "../../lib/page-context.ts";

/** How another machine joins. */
export function ConnectHint() {
  const bus = usePage((state) => state.status?.bus ?? "");
  const server = serverOf(bus);
  const isAlone = !bus.includes("://");
  return (
    <section className="connect" aria-labelledby="connect-title" data-testid="connect-hint">
      <h3 id="connect-title">Connect another machine</h3>
      {isAlone && (
        <>
          <p className="soft">This daemon runs everything in its own process. Start it with a NATS server instead:</p>
          <Command text={`troupe up --nats ${server}`} />
        </>
      )}
      <p className="soft">
        {isAlone ? "Then, on" : "On"} the other machine, for the agents that it has the tools and the files for:
      </p>
      <Command text={`troupe worker --agents coder,tester --nats ${server}`} />
      <p className="soft">It appears here within two seconds, and every run can delegate to its agents.</p>
    </section>
  );
}

function Command({ text }: { text: string }) {
  return (
    <p className="command">
      <code>{text}</code>
      <CopyButton text={() => text} label="Copy" />
    </p>
  );
}
