/** How many questions wait for a person. Nothing, where none does. */
export function ApprovalsTag({ waiting }: { waiting: number }) {
  if (waiting === 0) return null;
  return <span className="approvals-tag">{waiting} to approve</span>;
}
