// Where output is written: the patterns of Slurm, filled in. Nodes and clients do it alike.

interface OutputFacts {
  /** 44, or 46_3 for an element. */
  readonly id: string;
  readonly name: string;
  readonly user: string;
  /** Of the node that writes. */
  readonly node: string;
  /** From 0, among the allocation's nodes. */
  readonly nodeIndex: number;
}

/** What Slurm says for the index of a job that is not of an array. */
const NO_INDEX = "4294967294";

/** %j %A %a %x %u %N %n %%; %4j fills with zeros. */
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

/** Each node has a file of its own; otherwise the first one writes. */
export const isPerNode = (pattern: string): boolean => /%\d{0,2}[Nn]/.test(pattern.replaceAll("%%", ""));
