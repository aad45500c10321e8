/**
 * Some file systems treat similar names as equal: other case, other Unicode form, invisible characters. All of these
 * fold to one name.
 */
export function foldedName(segment: string): string {
  return segment
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
}
