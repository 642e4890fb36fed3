// Jobs of a generated workload and their trace format. Times are whole seconds, so that equal seeds give equal bytes.

export interface MadeJob {
  readonly at: number;
  readonly tenant: string;
  readonly nodes: number;
  readonly run: number;
  readonly walltime: number;
  readonly priority?: number;
  readonly vcluster?: string;
}

interface MadeNode {
  readonly id: string;
  readonly group: string;
  readonly vcluster?: string;
}

interface MadeVCluster {
  readonly name: string;
  readonly scheduler: string;
  readonly weights?: Readonly<Record<string, number>>;
  readonly backfill_depth?: number;
}

export interface MadeTrace {
  readonly nodes: readonly MadeNode[];
  readonly vclusters: readonly MadeVCluster[];
  readonly jobs: readonly MadeJob[];
}

export function traceText({ nodes, vclusters, jobs }: MadeTrace): string {
  const inOrder = jobs
    .map((job, i) => ({ job, i }))
    .sort((a, b) => a.job.at - b.job.at || a.i - b.i)
    .map(({ job }) => job);
  const lines: object[] = [
    { ts: 0, type: "machine", nodes: nodes.length },
    ...vclusters.map((vcluster) => ({ ts: 0, type: "vcluster", vcluster })),
    ...nodes.map((node) => ({ ts: 0, type: "node", node })),
  ];
  for (const [i, { at, run, ...job }] of inOrder.entries()) {
    const id = String(i + 1);
    lines.push({ ts: at, type: "submit", alloc: { id, ...job, walltime: `${job.walltime}s` } });
    lines.push({ ts: at, type: "complete", alloc_id: id, duration: `${run}s`, exit: 0 });
  }
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** Named n001 and up, in groups of sixteen. */
export const madeNodes = (count: number, from = 1, vcluster?: string): MadeNode[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `n${String(from + i).padStart(4, "0")}`,
    group: `g${Math.floor((from + i - 1) / 16) + 1}`,
    ...(vcluster === undefined ? {} : { vcluster }),
  }));
