// The versions of the protocol between agents and servers. A program speaks the newest it knows and
// the one before, so that servers and agents can be upgraded one after the other, in any order. Each
// side says its newest; what both speak is agreed on, and when that is nothing they part with a
// reason that names both.

interface ProtocolRange {
  readonly oldest: number;
  readonly newest: number;
}

const FIRST_PROTOCOL = 1;

/** Returns the versions that a program with this newest version speaks. */
export const protocolRange = (newest: number): ProtocolRange => ({
  oldest: Math.max(FIRST_PROTOCOL, newest - 1),
  newest,
});

/** The versions that this program speaks. */
export const PROTOCOL: ProtocolRange = protocolRange(1);

export type ProtocolAgreement =
  | { readonly kind: "agreed"; readonly version: number }
  /** They speak nothing that we do: `too_old` or `too_new` for us. */
  | { readonly kind: "apart"; readonly theirs: "too_old" | "too_new"; readonly ranges: string };

/** The newest version that both speak. */
export function agreeOnProtocol(ours: ProtocolRange, theirs: ProtocolRange): ProtocolAgreement {
  const version = Math.min(ours.newest, theirs.newest);
  if (version >= ours.oldest && version >= theirs.oldest) return { kind: "agreed", version };
  const ranges = `${inWords(ours)} here, ${inWords(theirs)} there`;
  return { kind: "apart", theirs: theirs.newest < ours.newest ? "too_old" : "too_new", ranges };
}

const inWords = ({ oldest, newest }: ProtocolRange): string =>
  oldest >= newest ? `version ${newest}` : `versions ${oldest} and ${newest}`;
