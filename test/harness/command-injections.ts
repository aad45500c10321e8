/**
 * Texts that would run a command, or write a file, if anything on their way took them for more than a value: a shell, or a
 * program that takes them for an option.
 *
 * @param canary a file that must not come to be; named relative to where commands start
 * @param sing a program there that makes the canary
 */
export function commandInjections(names: { canary: string; sing: string }): string[] {
  return [...new Set([...typicalInjections(names), ...gitInjections(names), ...moreInjections(names)])];
}

/** One text for all kinds of quoting in a shell, and an option of each program that a tool runs: git, ripgrep and node. */
export function typicalInjections({ canary, sing }: { canary: string; sing: string }): string[] {
  return [
    quoteInjection(canary),
    `--output=${canary}`,
    `-o${canary}`,
    `--pre=${sing}`,
    `--import=${sing}`,
    // A character that only looks like a hyphen, for a program that turns it into one.
    `\u2010\u2010output=${canary}`,
  ];
}

/** Makes the canary in a shell, whether the text stands there as it is, between single quotes or between double quotes. */
export function quoteInjection(canary: string): string {
  return `$(touch ${canary})'; touch ${canary}; '"; touch ${canary}; "\ntouch ${canary}\n`;
}

/** Options and addresses with which a command of git writes a file or starts a program. */
export function gitInjections({ canary, sing }: { canary: string; sing: string }): string[] {
  return [
    `--output=${canary}`,
    `-o${canary}`,
    `-O${sing}`,
    `--open-files-in-pager=${sing}`,
    `--upload-pack=${sing}`,
    `--exec=${sing}`,
    `--ext-diff`,
    `-ccore.fsmonitor=${sing}`,
    `--config-env=core.fsmonitor=PATH`,
    `--exec-path=.`,
    `ext::${sing}`,
  ];
}

function moreInjections({ canary, sing }: { canary: string; sing: string }): string[] {
  return [
    `; touch ${canary}`,
    `$(touch ${canary})`,
    `'; touch ${canary}; '`,
    `"; touch ${canary}; "`,
    `x\ntouch ${canary}\n`,
    `x && touch ${canary}`,
    `x | tee ${canary}`,
    `> ${canary}`,
    `\`touch ${canary}\``,
    `\${x:-$(touch ${canary})}`,
    `x\r\ntouch ${canary}\r\n`,
    `x\0; touch ${canary}`,
    `!touch ${canary}`,
    `--hostname-bin=${sing}`,
    `--globalSetup=${sing}`,
    `--test-reporter=${sing}`,
    `\u2013output=${canary}`,
    `\u2014output=${canary}`,
    `\uff0d\uff0doutput=${canary}`,
    `\u2212o${canary}`,
  ];
}
