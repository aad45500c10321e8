import { type FormEvent, useState } from "react";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, problemOf } from "../../lib/api.ts";
import { useDaemon, usePage } from "../../lib/page-context.ts";
import { tokenIn } from "../../lib/route.ts";

/** Logs in a browser that the daemon does not know. */
export function TokenForm() {
  const daemon = useDaemon();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const refusal = usePage((state) => state.refusal);
  const shownProblem = busy ? null : (problem ?? refusal);

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const token = tokenIn(text);
    if (token === null) return;
    setBusy(true);
    setProblem(null);
    try {
      await daemon.login(token);
    } catch (thrown) {
      setProblem(problemOf(thrown));
      setBusy(false);
    }
  };

  return (
    <main className="centered">
      <form className="card" data-testid="token-form" onSubmit={(event) => void submit(event)}>
        <h2>Log in to the daemon</h2>
        <p className="soft">
          Paste the token or the whole link that <code>troupe up</code> printed. The page stores it in a cookie for this
          address only.
        </p>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          type="password"
          value={text}
          onChange={(event) => setText(event.target.value)}
          autoComplete="off"
          spellCheck={false}
          // biome-ignore lint/a11y/noAutofocus: the page has only this field
          autoFocus
          required
        />
        {shownProblem && <ProblemNote problem={shownProblem} />}
        <button type="submit" className="primary" disabled={busy}>
          {busy ? "Checking…" : "Connect"}
        </button>
      </form>
    </main>
  );
}
