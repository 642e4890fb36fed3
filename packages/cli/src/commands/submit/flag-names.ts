// Rewrites the field names in a problem to the flags that set them. For people only: JSON output keeps the server's
// names.

import type { Problem } from "@lattice/wire";

/** By path without `allocation.`; a path covers the paths below it. */
const FLAGS: Readonly<Record<string, string>> = {
  name: "--name",
  tenant: "--tenant",
  project: "--project",
  intent: "--intent",
  telemetry: "--telemetry",
  vcluster: "--vcluster",
  tags: "--tag",
  set_tags: "--tag",
  remove_tags: "--remove-tag",
  request_id: "--request-id",
  hold: "--hold",
  nodes: "--nodes",
  "resources.nodes": "--nodes",
  tasks_per_node: "--tasks-per-node",
  "resources.tasks_per_node": "--tasks-per-node",
  constraint: "--constraint",
  constraints: "--constraint",
  "resources.constraints": "--constraint",
  "resources.constraints.topology": "--topology",
  "constraints.topology": "--topology",
  "constraint.topology": "--topology",
  topology: "--topology",
  cpu_cores: "--cpus",
  gpu_count: "--gpus",
  gpu_type: "--gpu-type",
  memory_gb: "--mem",
  "resources.constraints.cpu_cores": "--cpus",
  "resources.constraints.gpu_count": "--gpus",
  "resources.constraints.gpu_type": "--gpu-type",
  "resources.constraints.memory_gb": "--mem",
  walltime: "--walltime",
  walltime_seconds: "--walltime",
  "lifecycle.walltime": "--walltime",
  "lifecycle.walltime_seconds": "--walltime",
  preemption_class: "--preemption-class",
  "lifecycle.preemption_class": "--preemption-class",
  priority: "--priority",
  requeue: "--requeue",
  requeue_policy: "--requeue-policy",
  "lifecycle.requeue_policy": "--requeue-policy",
  max_requeue: "--max-requeue",
  "lifecycle.max_requeue": "--max-requeue",
  service: "--service",
  env: "--env",
  "environment.variables": "--env",
  workdir: "--workdir",
  "environment.workdir": "--workdir",
  uenv: "--uenv",
  "environment.uenv": "--uenv",
  view: "--view",
  "environment.view": "--view",
  image: "--image",
  tools_uenv: "--tools-uenv",
  "environment.tools_uenv": "--tools-uenv",
  memory_policy: "--memory-policy",
  "resources.constraints.memory_policy": "--memory-policy",
  "constraints.memory_policy": "--memory-policy",
  "environment.image": "--image",
  task_group: "--task-group",
  output_file: "--output-file",
  "output.file": "--output-file",
  error_file: "--error-file",
  "output.error_file": "--error-file",
  depends_on: "--depends-on",
  mounts: "--data-mount",
  "data.mounts": "--data-mount",
  output_to: "--output-to",
  "data.output": "--output-to",
  scratch_per_node: "--scratch",
  "data.scratch_per_node": "--scratch",
  data_defaults: "--data-defaults",
  "data.defaults": "--data-defaults",
  expose: "--expose",
  "connectivity.expose": "--expose",
  liveness_probe: "--probe",
  network_domain: "--network-domain",
  "connectivity.network_domain": "--network-domain",
  reactive: "--reactive",
  scale_policy: "--reactive",
  "scale_policy.min": "--min-nodes",
  "scale_policy.max": "--max-nodes",
  "scale_policy.metric": "--scale-metric",
  "scale_policy.target": "--scale-target",
  checkpoint: "--checkpoint",
  "checkpoint.port": "--checkpoint-port",
  "checkpoint.timeout_seconds": "--checkpoint-timeout",
  no_preempt: "--no-preempt",
  sensitive: "--sensitive",
};

/** Field names to replace inside sentences: they cannot be confused with plain words. */
const IN_TEXT = ["preemption_class", "max_requeue", "tasks_per_node"] as const;

/** `isTaken` tells whether the command has a flag. */
export function inFlagNames(problem: Problem, isTaken: (flag: string) => boolean = () => true): Problem {
  const shown = (field: string): string => {
    const flag = flagOf(field);
    return flag !== null && isTaken(flag) ? flag : field;
  };
  const fields = problem.fields.map(({ field, detail, hint }) => ({
    field: shown(field),
    detail,
    ...(hint === undefined ? {} : { hint: withFlags(hint) }),
  }));
  // The detail names the fields too. Replace the longest first, because one may be a prefix of another.
  const names = problem.fields.map(({ field }) => field).toSorted((a, b) => b.length - a.length);
  const detail = names.reduce((text, name) => text.replaceAll(name, shown(name)), problem.detail);
  return { ...problem, detail, hint: withFlags(problem.hint), fields };
}

/** Returns null when no flag sets the field. */
export function flagOf(field: string): string | null {
  let path = field.replace(/^(allocation|service)\./, "").replace(/^lifecycle\.(?=scale_policy)/, "");
  for (;;) {
    if (Object.hasOwn(FLAGS, path)) return FLAGS[path] ?? null;
    const shorter = path.replace(/(\.[^.[\]]*|\[[^[\]]*\])$/, "");
    if (shorter === path) return null;
    path = shorter;
  }
}

const withFlags = (text: string): string =>
  IN_TEXT.reduce((all, name) => all.replace(new RegExp(`(?<![\\w.-])${name}(?!\\w)`, "g"), FLAGS[name] ?? name), text);
