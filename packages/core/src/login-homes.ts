/**
 * The homes of the people of a machine, from the text of its `/etc/passwd`: those of root and of ordinary users with a
 * shell.
 */
export function loginHomes(passwd: string): string[] {
  return passwd.split("\n").flatMap((line) => {
    const [, , id = "", , , home = "", shell = ""] = line.split(":");
    const isPerson = id === "0" || Number(id) >= 1_000;
    const isHome = home.startsWith("/") && home !== "/";
    return isPerson && isHome && !/nologin|false/.test(shell) ? [home.replace(/\/+$/, "")] : [];
  });
}
