import type { AgentProblem } from "@troupe/core/internal";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Glyph } from "../../components/icons.tsx";
import { suggestionFor } from "../../lib/agent-editor.ts";
import { firstLine } from "../../lib/format.ts";

export interface NameOption {
  name: string;
  /** Behind the name, such as an ability. */
  note: string;
  description: string;
}

interface Props {
  label: string;
  hint?: string;
  names: readonly string[];
  options: readonly NameOption[];
  problems: readonly AgentProblem[];
  disabled: boolean;
  testId: string;
  onChange(names: string[]): void;
}

/** Options in the list at once. */
const optionsMax = 60;

/** A list of names with a search over the known ones. Unknown names stay, marked with the nearest known name. */
export function NamePicker({ label, hint, names, options, problems, disabled, testId, onChange }: Props) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const ids = useId();
  const found = matching(options, names, text);
  const at = Math.min(active, found.length - 1);

  const add = (name: string): void => {
    const added = name.trim();
    if (added !== "" && !names.includes(added)) onChange([...names, added]);
    setText("");
    setActive(0);
    // The open list would cover the next field.
    setOpen(false);
  };
  const replace = (old: string, name: string): void =>
    onChange([...new Set(names.map((each) => (each === old ? name : each)))]);
  const remove = (name: string): void => {
    onChange(names.filter((each) => each !== name));
    input.current?.focus();
  };
  const move = (step: number): void => {
    setOpen(true);
    setActive(Math.min(Math.max(at + step, 0), Math.max(found.length - 1, 0)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) move(isOpen ? step : 0);
    else if (event.key === "Enter") add((isOpen ? found[at]?.name : undefined) ?? text);
    else if (event.key === "Escape" && isOpen) setOpen(false);
    else return;
    event.preventDefault();
  };
  return (
    <div className="field picker" data-testid={testId}>
      <label htmlFor={ids}>{label}</label>
      {hint && (
        <p id={`${ids}-hint`} className="hint">
          {hint}
        </p>
      )}
      <ul className="picked" aria-label={`${label}: selected`}>
        {names.map((name) => (
          <Picked
            key={name}
            name={name}
            problems={problems}
            disabled={disabled}
            onRemove={() => remove(name)}
            onReplace={(nearest) => replace(name, nearest)}
          />
        ))}
      </ul>
      {!disabled && (
        <div className="picker-box">
          <input
            ref={input}
            id={ids}
            role="combobox"
            aria-expanded={isOpen}
            aria-controls={`${ids}-list`}
            aria-autocomplete="list"
            aria-activedescendant={isOpen && found[at] ? `${ids}-${at}` : undefined}
            aria-describedby={hint ? `${ids}-hint` : undefined}
            autoComplete="off"
            spellCheck={false}
            placeholder="Add…"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setActive(0);
              setOpen(true);
            }}
            onClick={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onKeyDown={onKeyDown}
          />
          <div
            id={`${ids}-list`}
            role="listbox"
            aria-label={label}
            className="picker-list"
            hidden={!isOpen || found.length === 0}
          >
            {isOpen &&
              found.map((option, i) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
                // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input
                <div
                  key={option.name}
                  id={`${ids}-${i}`}
                  role="option"
                  aria-selected={i === at}
                  data-name={option.name}
                  // The focus stays in the input.
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => add(option.name)}
                >
                  <b>{option.name}</b>
                  {option.note !== "" && <span className="tag">{option.note}</span>}
                  <span className="soft">{firstLine(option.description, 110)}</span>
                </div>
              ))}
          </div>
        </div>
      )}
    </div>
  );
}

function matching(options: readonly NameOption[], names: readonly string[], text: string): NameOption[] {
  const wanted = text.trim().toLowerCase();
  const rank = ({ name }: NameOption): number => rankOf(name.toLowerCase(), wanted);
  return options
    .filter(({ name, description }) => !names.includes(name) && `${name} ${description}`.toLowerCase().includes(wanted))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, optionsMax);
}

/** Names before descriptions, beginnings before middles, and `reviewer` before `review_code-reviewer`. */
function rankOf(name: string, wanted: string): number {
  if (wanted === "") return 0;
  const place = name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1_000 : 2_000;
  return place + name.length;
}

interface PickedProps {
  name: string;
  problems: readonly AgentProblem[];
  disabled: boolean;
  onRemove(): void;
  onReplace(name: string): void;
}

function Picked({ name, problems, disabled, onRemove, onReplace }: PickedProps) {
  const suggestion = suggestionFor(name, problems);
  const nearest = suggestion?.name ?? null;
  return (
    <li data-name={name} data-unknown={suggestion !== null} title={suggestion?.message}>
      <span className="picked-name">{name}</span>
      {nearest !== null && !disabled && (
        <button type="button" className="link" onClick={() => onReplace(nearest)}>
          {nearest}?
        </button>
      )}
      {!disabled && (
        <button type="button" className="picked-remove" aria-label={`Remove ${name}`} onClick={onRemove}>
          <Glyph name="close" />
        </button>
      )}
    </li>
  );
}
