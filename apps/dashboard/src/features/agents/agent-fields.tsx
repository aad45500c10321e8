import type { AgentFileList, AgentForm, AgentProblem } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { type ReactNode, useId, useMemo } from "react";
import { abilityTexts, limitNames, limitTexts } from "../../lib/agent-editor.ts";
import { type NameOption, NamePicker } from "./name-picker.tsx";

interface Props {
  form: AgentForm;
  /** The agent of the form, which cannot delegate to itself. */
  id: string;
  list: AgentFileList;
  problems: readonly AgentProblem[];
  disabled: boolean;
  onChange(form: AgentForm): void;
}

/** The fields of an agent file. */
export function AgentFields({ form, id, list, problems, disabled, onChange }: Props) {
  const set = (changes: Partial<AgentForm>): void => onChange({ ...form, ...changes });
  const tools = useMemo(() => toolOptions(list), [list]);
  const agents = useMemo(() => agentOptions(list, id), [list, id]);
  const shared = { problems, disabled };
  return (
    <div className="agent-fields">
      <Field label="Description" hint="When to delegate to this agent. The models of other agents read it.">
        {(inputId) => (
          <textarea
            id={inputId}
            rows={3}
            value={form.description}
            disabled={disabled}
            onChange={(event) => set({ description: event.target.value })}
          />
        )}
      </Field>
      <Field label="Model" hint="A size, provider/model, or inherit for the model of its parent.">
        {(inputId) => (
          <>
            <input
              id={inputId}
              list={`${inputId}-models`}
              value={form.model}
              placeholder="inherit"
              disabled={disabled}
              onChange={(event) => set({ model: event.target.value })}
            />
            <datalist id={`${inputId}-models`}>
              {list.models.map((model) => (
                <option key={model} value={model} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <ToolFields form={form} options={tools} set={set} {...shared} />
      <h4>Delegation</h4>
      <NamePicker
        {...shared}
        label="May delegate to"
        names={form.allow}
        options={[anyAgent, ...agents]}
        testId="pick-allow"
        onChange={(allow) => set({ allow })}
      />
      <NamePicker
        {...shared}
        label="May never delegate to"
        hint="Wins over the list above."
        names={form.deny}
        options={agents}
        testId="pick-deny"
        onChange={(deny) => set({ deny })}
      />
      <Field label="Its agents work">
        {(inputId) => (
          <select
            id={inputId}
            value={form.execution}
            disabled={disabled}
            onChange={(event) => set({ execution: event.target.value as AgentForm["execution"] })}
          >
            <option value="">at once (default)</option>
            <option value="parallel">at once</option>
            <option value="parallel_streaming">at once, and each result is read when it comes</option>
            <option value="sequential">one after the other</option>
          </select>
        )}
      </Field>
      <Limits form={form} disabled={disabled} set={set} />
      <label className="check">
        <input
          type="checkbox"
          checked={form.disabled}
          disabled={disabled}
          onChange={(event) => set({ disabled: event.target.checked })}
        />
        Disabled: no run can use it
      </label>
      <Field label="Prompt" hint="The system prompt of its runs.">
        {(inputId) => (
          <textarea
            id={inputId}
            className="agent-prompt"
            rows={16}
            spellCheck={false}
            value={form.prompt}
            disabled={disabled}
            onChange={(event) => set({ prompt: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}

interface PartProps {
  form: AgentForm;
  disabled: boolean;
  set(changes: Partial<AgentForm>): void;
}

function ToolFields({
  form,
  options,
  problems,
  disabled,
  set,
}: PartProps & { options: readonly NameOption[]; problems: readonly AgentProblem[] }) {
  const shared = { options, problems, disabled };
  return (
    <>
      <h4>Tools</h4>
      <fieldset className="choices" disabled={disabled}>
        <legend className="visually-hidden">Tools that it may use</legend>
        <label className="check">
          <input type="radio" checked={form.tools === null} onChange={() => set({ tools: null })} />
          All tools that its parent grants
        </label>
        <label className="check">
          <input type="radio" checked={form.tools !== null} onChange={() => set({ tools: form.tools ?? [] })} />
          Only these
        </label>
      </fieldset>
      {form.tools !== null && (
        <NamePicker
          {...shared}
          label="Allowed tools"
          hint={form.tools.length === 0 ? "An empty list means that it has no tools." : ""}
          names={form.tools}
          testId="pick-tools"
          onChange={(tools) => set({ tools })}
        />
      )}
      <NamePicker
        {...shared}
        label="Denied tools"
        hint="Wins over the allowed tools."
        names={form.disallowedTools}
        testId="pick-denied-tools"
        onChange={(disallowedTools) => set({ disallowedTools })}
      />
      <Field
        label="Folders where it may write"
        hint="Relative to the workspace, separated by commas. Empty: those of its parent."
      >
        {(inputId) => (
          <input
            id={inputId}
            value={(form.writes ?? []).join(", ")}
            placeholder="docs, **/test"
            disabled={disabled}
            onChange={(event) => set({ writes: foldersIn(event.target.value) })}
          />
        )}
      </Field>
    </>
  );
}

/** Keeps a comma at the end, so that the user can type the next folder. */
function foldersIn(text: string): string[] | null {
  const folders = text.split(",").map((part) => part.trim());
  const named = folders.filter((part, i) => part !== "" || (i === folders.length - 1 && i > 0));
  return named.length === 0 || (named.length === 1 && named[0] === "") ? null : named;
}

function Limits({ form, disabled, set }: PartProps) {
  const used = Object.keys(form.limits).length + (form.maxConcurrent === "" ? 0 : 1);
  return (
    <details className="agent-limits" open={used > 0}>
      <summary>Limits{used > 0 && <span className="soft"> {used} set</span>}</summary>
      <div className="limit-grid">
        {limitNames.map((name) => (
          <Field key={name} label={name} hint={limitTexts[name]}>
            {(inputId) => (
              <input
                id={inputId}
                value={form.limits[name] ?? ""}
                disabled={disabled}
                onChange={(event) => set({ limits: withLimit(form.limits, name, event.target.value) })}
              />
            )}
          </Field>
        ))}
        <Field label="max_concurrent" hint="agents at once, of subagents">
          {(inputId) => (
            <input
              id={inputId}
              value={form.maxConcurrent}
              disabled={disabled}
              onChange={(event) => set({ maxConcurrent: event.target.value })}
            />
          )}
        </Field>
      </div>
    </details>
  );
}

function withLimit(limits: AgentForm["limits"], name: keyof AgentForm["limits"], value: string): AgentForm["limits"] {
  const { [name]: _, ...others } = limits;
  return value.trim() === "" ? others : { ...others, [name]: value.trim() };
}

interface FieldProps {
  label: string;
  hint?: string;
  children(inputId: string): ReactNode;
}

function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint && <p className="hint">{hint}</p>}
      {children(id)}
    </div>
  );
}

const anyAgent: NameOption = { name: "*", note: "", description: "Every agent, also on other machines" };

function agentOptions(list: AgentFileList, id: string): NameOption[] {
  return list.agents
    .filter((row) => row.id !== id && !row.broken)
    .map(({ id: name, team, description, disabled }) => ({
      name,
      note: disabled ? "disabled" : team === undefined ? "" : describeAgent({ agent: name, team }),
      description,
    }));
}

function toolOptions({ tools }: AgentFileList): NameOption[] {
  const groups = [...new Set(tools.flatMap(({ groups: of }) => of))].sort();
  return [
    ...tools.map(({ name, ability, description }) => ({
      name,
      note: ability === null ? "reads" : abilityTexts[ability].short,
      description,
    })),
    ...groups
      .filter((group) => !tools.some(({ name }) => name === group))
      .map((group) => ({
        name: group,
        note: "group",
        description: tools
          .filter(({ groups: of }) => of.includes(group))
          .map(({ name }) => name)
          .join(", "),
      })),
  ];
}
