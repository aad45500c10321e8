const isPlain = /^[\x20-\x7e]*$/;

/**
 * Some file systems treat similar names as equal: other case, other Unicode form, invisible characters. All of these
 * fold to one name.
 */
export function foldedName(name: string): string {
  if (isPlain.test(name)) return name.toLowerCase();
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
}
