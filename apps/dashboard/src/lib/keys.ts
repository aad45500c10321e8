import type { KeyboardEvent as FieldKeyEvent } from "react";

/** True for a key without modifiers, outside of input fields and dialogs. */
export function isPlainKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (document.querySelector("dialog[open]")) return false;
  return !(event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]"));
}

/** In a text field of several lines, Ctrl+Enter or Cmd+Enter submits the form. */
export function submitOnCtrlEnter(event: FieldKeyEvent<HTMLTextAreaElement>): void {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
}
