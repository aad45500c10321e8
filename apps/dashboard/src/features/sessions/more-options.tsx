import type { AgentList } from "@troupe/core/internal";
import { useEffect, useId, useState } from "react";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { noOptions, summaryOf } from "../../lib/session-options.ts";
import { type OptionProps, TextOption } from "./option-field.tsx";
import { AgentField, TeamField } from "./team-and-agent.tsx";

interface Props extends OptionProps {
  list: AgentList;
  isOpen: boolean;
  setOpen(isOpen: boolean): void;
}

/** Folder, team, agent, model and budget of a new session. Folded, they show in a few words. */
export function MoreOptions({ isOpen, setOpen, ...fields }: Props) {
  const summary = summaryOf(fields.options);
  return (
    <details
      className="more-options"
      data-testid="more-options"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span>More options</span>
        {!isOpen &&
          summary.map((part) => (
            <span key={part} className="option-summary">
              {part}
            </span>
          ))}
      </summary>
      {isOpen && <OptionFields {...fields} />}
    </details>
  );
}

function OptionFields({ list, ...shared }: Omit<Props, "isOpen" | "setOpen">) {
  const { options, onChange } = shared;
  const model = usePage((state) => state.status?.model ?? null);
  const models = useModels();
  const modelsId = useId();
  return (
    <div className="option-fields">
      <TextOption {...shared} name="folder" label="Folder" hint="The agents read and write files here.">
        {(input) => <input {...input} placeholder="/absolute/path; empty: a new folder" />}
      </TextOption>
      <TeamField {...shared} list={list} />
      <AgentField {...shared} list={list} />
      <TextOption {...shared} name="model" label="Model" hint="A size, an alias or provider/model.">
        {(input) => <input {...input} placeholder={model ?? "the default model"} list={modelsId} />}
      </TextOption>
      <datalist id={modelsId}>
        {models.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <BudgetFields {...shared} />
      {summaryOf(options).length > 0 && (
        <button type="button" className="link clear-options" onClick={() => onChange(noOptions)}>
          Clear all options
        </button>
      )}
    </div>
  );
}

/** The names of models that the daemon knows. */
function useModels(): readonly string[] {
  const [models, setModels] = useState<readonly string[]>([]);
  useEffect(() => {
    let isCurrent = true;
    // The field takes any text. A failed connection is shown elsewhere.
    api.agentFiles(null).then(
      (list) => isCurrent && setModels(list.models.filter((name) => name !== "inherit")),
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  return models;
}

const limits = [
  { name: "tokens", label: "Tokens", mode: "numeric", otherwise: "no limit" },
  { name: "costUsd", label: "US dollars", mode: "decimal", otherwise: "no limit" },
  { name: "toolCalls", label: "Tool calls", mode: "numeric", otherwise: "no limit" },
  { name: "spawns", label: "Sub-runs", mode: "numeric", otherwise: "default" },
] as const;

function BudgetFields(shared: OptionProps) {
  return (
    <fieldset className="budget-fields">
      <legend>
        Budget <span className="soft">of all its runs together; for this session only</span>
      </legend>
      {limits.map(({ name, label, mode, otherwise }) => (
        <TextOption key={name} {...shared} name={name} label={label}>
          {(input) => <input {...input} inputMode={mode} placeholder={otherwise} />}
        </TextOption>
      ))}
    </fieldset>
  );
}
