import type { GrantDecision, GrantExplanation } from "@troupe/core/internal";

/** What a run may use, and for the rest which layer took it away. */
export function Grants({ id, explanation }: { id: string; explanation: GrantExplanation }) {
  const { layers, verdicts } = explanation;
  return (
    <div id={id} className="grants" data-testid="grants">
      <p className="soft">
        Each layer can only take away: <span className="layers">{layers.join(" › ")}</span>
      </p>
      <VerdictTable caption="Tools" verdicts={verdicts.filter(({ kind }) => kind === "tool")} />
      <VerdictTable caption="Agents it may delegate to" verdicts={verdicts.filter(({ kind }) => kind === "agent")} />
    </div>
  );
}

function VerdictTable({ caption, verdicts }: { caption: string; verdicts: readonly GrantDecision[] }) {
  const granted = verdicts.filter((verdict) => verdict.granted).length;
  return (
    <table>
      <caption>
        {caption}{" "}
        <span className="soft">
          {verdicts.length === 0 ? "none exist" : `${granted} of ${verdicts.length} granted`}
        </span>
      </caption>
      {verdicts.length > 0 && (
        <>
          <thead className="heard-only">
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Granted, or removed by</th>
            </tr>
          </thead>
          <tbody>
            {verdicts.map((verdict) => (
              <tr key={verdict.name} data-granted={verdict.granted}>
                <th scope="row">{verdict.name}</th>
                <td>
                  {verdict.granted ? (
                    "granted"
                  ) : (
                    <>
                      <b>removed by {verdict.removedBy ?? "nobody known"}</b>
                      <span className="agent-text soft">{verdict.reason}</span>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </>
      )}
    </table>
  );
}
