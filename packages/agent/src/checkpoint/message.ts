// Messages of a program about its checkpoint reach reports, logs and the state of the cluster; each is cut where it enters.

/** As many characters as the server keeps. */
const MAX_MESSAGE = 1_000;

export const cutMessage = (text: string): string => text.slice(0, MAX_MESSAGE);
