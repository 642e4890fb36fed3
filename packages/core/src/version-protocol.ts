// The versions of the agent protocol. A program supports its newest version and the previous one, so that servers and
// agents can be upgraded in any order. Each side sends its newest version and both use the newest common one; without
// one they disconnect with a reason that names both.

interface ProtocolRange {
  readonly oldest: number;
  readonly newest: number;
}

const FIRST_PROTOCOL = 1;

/** Returns the versions that a program with this newest version supports. */
export const protocolRange = (newest: number): ProtocolRange => ({
  oldest: Math.max(FIRST_PROTOCOL, newest - 1),
  newest,
});

/** The versions that this program supports. */
export const PROTOCOL: ProtocolRange = protocolRange(1);

export type ProtocolAgreement =
  | { readonly kind: "agreed"; readonly version: number }
  /** No common version: `too_old` or `too_new`, seen from our side. */
  | { readonly kind: "apart"; readonly theirs: "too_old" | "too_new"; readonly ranges: string };

/** The newest common version. */
export function agreeOnProtocol(ours: ProtocolRange, theirs: ProtocolRange): ProtocolAgreement {
  const version = Math.min(ours.newest, theirs.newest);
  if (version >= ours.oldest && version >= theirs.oldest) return { kind: "agreed", version };
  const ranges = `${inWords(ours)} here, ${inWords(theirs)} there`;
  return { kind: "apart", theirs: theirs.newest < ours.newest ? "too_old" : "too_new", ranges };
}

const inWords = ({ oldest, newest }: ProtocolRange): string =>
  oldest >= newest ? `version ${newest}` : `versions ${oldest} and ${newest}`;
