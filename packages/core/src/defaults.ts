/** Defaults that several packages share. Other defaults are beside the code that they configure. */

/** How long the tasks of a dead host stay with it, if several hosts share a queue. */
export const leaseMsDefault = 8_000;

/** Attempts of a failed child, the first included. */
export const maxAttemptsDefault = 2;

/** Wait before the second attempt of a failed child. It doubles for each further attempt. */
export const backoffMsDefault = 1_000;

/** Children of one `delegate` call that work at the same time. */
export const maxConcurrentChildrenDefault = 5;

/** Tokens of the list of agents that a delegating model reads, estimated at four characters a token. */
export const agentListTokensDefault = 2_000;
