// The abort reason of a call whose caller disconnected. A call that was cut off otherwise (token expired, a server lost)
// may be resumed by its caller.

export class CallerGone extends Error {
  constructor() {
    super("the caller disconnected");
  }
}

export const isCallerGone = ({ reason }: AbortSignal): boolean => reason instanceof CallerGone;
