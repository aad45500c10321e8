import { type HTMLAttributes, type ReactNode, useId } from "react";
import type { OptionName, OptionProblems, SessionOptions } from "../../lib/session-options.ts";

export interface OptionProps {
  options: SessionOptions;
  problems: OptionProblems;
  onChange(changes: Partial<SessionOptions>): void;
}

interface OptionFieldProps {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  children(field: Pick<InputProps, "id" | "aria-invalid" | "aria-describedby">): ReactNode;
}

/** A field with its hint and its problem, which screen readers read with the field. */
export function OptionField({ label, hint, problem, children }: OptionFieldProps) {
  const id = useId();
  const [hintId, problemId] = [`${id}-hint`, `${id}-problem`];
  const describedBy = [hint && hintId, problem && problemId].filter(Boolean).join(" ");
  return (
    <div className="option-field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "aria-invalid": problem === undefined ? undefined : true,
        "aria-describedby": describedBy === "" ? undefined : describedBy,
      })}
      {problem && (
        <p id={problemId} className="option-problem">
          {problem}
        </p>
      )}
      {hint && (
        <p id={hintId} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextOptionProps extends OptionProps {
  name: OptionName;
  label: string;
  hint?: string;
  children(input: InputProps): ReactNode;
}

type InputProps = Pick<HTMLAttributes<HTMLInputElement>, "id" | "aria-invalid" | "aria-describedby"> & {
  value: string;
  name: string;
  autoComplete: "off";
  spellCheck: false;
  onChange(event: { target: { value: string } }): void;
};

/** A field for the text of an option. */
export function TextOption({ name, options, problems, onChange, label, hint, children }: TextOptionProps) {
  return (
    <OptionField label={label} hint={hint} problem={problems[name]}>
      {(field) =>
        children({
          ...field,
          name,
          value: options[name],
          autoComplete: "off",
          spellCheck: false,
          onChange: ({ target }) => onChange({ [name]: target.value }),
        })
      }
    </OptionField>
  );
}
