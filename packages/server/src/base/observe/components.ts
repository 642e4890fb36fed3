// The component of each metric, by its name; for queries about one component.

export const COMPONENTS = {
  scheduler: /^lattice_(scheduling|scheduler|estimate|borrow|preempt)/,
  api: /^lattice_(api|terminals|task_launches|tasks_launched)/,
  raft: /^lattice_(raft|log|lead|membership|backup|history)/,
  nodes: /^lattice_(node|agent|output|image)/,
  allocations: /^lattice_(allocations|task_group|dags|blocked|waiting|events|notices|checkpoint)/,
  process: /^(process|nodejs)_/,
} as const;
export type MetricsComponent = keyof typeof COMPONENTS;
