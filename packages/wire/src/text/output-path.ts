// Fills in Slurm's patterns in output paths. Nodes and clients share it.

interface OutputFacts {
  /** 44, or 46_3 for an element. */
  readonly id: string;
  readonly name: string;
  readonly user: string;
  /** The name of the node that writes. */
  readonly node: string;
  /** The position among the allocation's nodes, from 0. */
  readonly nodeIndex: number;
}

/** Slurm's index of a job outside an array. */
const NO_INDEX = "4294967294";

/** Replaces %j %A %a %x %u %N %n %%; %4j pads with zeros. */
export function fillOutputPath(pattern: string, { id, name, user, node, nodeIndex }: OutputFacts): string {
  const [base = id, index = NO_INDEX] = id.split("_");
  const values: Readonly<Record<string, string>> = {
    "%": "%",
    A: base,
    J: id,
    N: node,
    a: index,
    j: id,
    n: `${nodeIndex}`,
    t: "0",
    s: "batch",
    u: user,
    x: name,
  };
  return pattern.replaceAll(/%(\d{0,2})([%AJNajnstux])/g, (_, width: string, letter: string) =>
    (values[letter] ?? "").padStart(Number(width), "0"),
  );
}

/** Whether each node writes its own file; otherwise only the first node writes. */
export const isPerNode = (pattern: string): boolean => /%\d{0,2}[Nn]/.test(pattern.replaceAll("%%", ""));
