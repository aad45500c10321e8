/**
 * Texts that would run a command, or write a file, if anything on their way took them for more than a value: a shell, or a
 * program that takes them for an option.
 *
 * @param canary a file that must not come to be; named relative to where commands start
 * @param sing a program there that makes the canary
 */
export function commandInjections({ canary, sing }: { canary: string; sing: string }): string[] {
  return [
    `; touch ${canary}`,
    `x && touch ${canary}`,
    `x | tee ${canary}`,
    `> ${canary}`,
    `\`touch ${canary}\``,
    `$(touch ${canary})`,
    `\${x:-$(touch ${canary})}`,
    `'; touch ${canary}; '`,
    `"; touch ${canary}; "`,
    `x\ntouch ${canary}\n`,
    `x\r\ntouch ${canary}\r\n`,
    `x\0; touch ${canary}`,
    `!touch ${canary}`,
    `--output=${canary}`,
    `-o${canary}`,
    `-O${sing}`,
    `--open-files-in-pager=${sing}`,
    `--pre=${sing}`,
    `--hostname-bin=${sing}`,
    `--upload-pack=${sing}`,
    `--exec=${sing}`,
    `--ext-diff`,
    `-ccore.fsmonitor=${sing}`,
    `--config-env=core.fsmonitor=PATH`,
    `--exec-path=.`,
    `--import=${sing}`,
    `--globalSetup=${sing}`,
    `--test-reporter=${sing}`,
    `ext::${sing}`,
    // Dashes that only look like one, for whatever makes them plain.
    `\u2010\u2010output=${canary}`,
    `\u2013output=${canary}`,
    `\u2014output=${canary}`,
    `\uff0d\uff0doutput=${canary}`,
    `\u2212o${canary}`,
  ];
}
