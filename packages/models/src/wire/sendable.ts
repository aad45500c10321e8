/** Whether a header can carry it: the white space around it is nothing to a header. */
export function isSendable(value: string): boolean {
  return !/[^\t\x20-\x7e]/.test(value.trim());
}
