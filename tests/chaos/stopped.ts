// The exit status of an interrupted run, as a shell reports a program that Ctrl-C ended.
export const STOPPED = 130;
