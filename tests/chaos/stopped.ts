// The status of a run that somebody ended, as a shell reports a program that Ctrl-C has ended.
export const STOPPED = 130;
