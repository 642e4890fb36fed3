// Every command: its one-line summary for the help page, and how to load it. A run loads only the
// command that it calls, so a command adds nothing to the start time of the others.

import type { CommandTable } from "./command-module.ts";

export const commandTable: CommandTable = {
  up: { summary: "Start a whole cluster on this machine", load: () => import("./commands/up.ts") },
  submit: { summary: "Submit a script or a command", load: () => import("./commands/submit.ts") },
  plan: { summary: "Show where and when a submission would start", load: () => import("./commands/plan.ts") },
  status: { summary: "Show allocations", load: () => import("./commands/status.ts") },
  why: {
    summary: "Explain why an allocation is pending or runs where it does",
    load: () => import("./commands/why.ts"),
  },
  logs: { summary: "Show the output of an allocation", load: () => import("./commands/logs.ts") },
  session: { summary: "Get nodes and a terminal on them", load: () => import("./commands/session.ts") },
  attach: { summary: "Open a terminal in a running allocation", load: () => import("./commands/attach.ts") },
  top: {
    summary: "Show the resource usage of an allocation",
    aliases: ["metrics"],
    load: () => import("./commands/top.ts"),
  },
  diag: {
    summary: "Show the network, storage and nodes of an allocation",
    aliases: ["diagnostics"],
    load: () => import("./commands/diag.ts"),
  },
  compare: { summary: "Show allocations side by side", load: () => import("./commands/compare.ts") },
  telemetry: { summary: "Change the telemetry mode of an allocation", load: () => import("./commands/telemetry.ts") },
  history: { summary: "Show ended allocations and their usage", load: () => import("./commands/history.ts") },
  services: { summary: "Show the services of running allocations", load: () => import("./commands/services.ts") },
  watch: { summary: "Follow the state changes of an allocation", load: () => import("./commands/watch.ts") },
  dag: { summary: "Submit, show and cancel workflows", load: () => import("./commands/dag.ts") },
  update: { summary: "Change an allocation or a service", load: () => import("./commands/update.ts") },
  cancel: { summary: "Cancel allocations", load: () => import("./commands/cancel.ts") },
  hold: { summary: "Hold pending allocations", load: () => import("./commands/hold.ts") },
  release: { summary: "Release held allocations", load: () => import("./commands/release.ts") },
  checkpoint: { summary: "Checkpoint running allocations", load: () => import("./commands/checkpoint.ts") },
  resume: { summary: "Resume suspended allocations", load: () => import("./commands/resume.ts") },
  launch: { summary: "Start tasks in a running allocation", load: () => import("./commands/launch.ts") },
  nodes: { summary: "Show nodes", load: () => import("./commands/nodes.ts") },
  node: { summary: "Drain, undrain, disable or enable nodes", load: () => import("./commands/node.ts") },
  notices: { summary: "Show notices that concern you", load: () => import("./commands/notices.ts") },
  usage: { summary: "Show usage and budgets of yourself or a tenant", load: () => import("./commands/usage.ts") },
  login: { summary: "Log in to a cluster", load: () => import("./commands/login.ts") },
  logout: { summary: "Revoke and delete the token for a cluster", load: () => import("./commands/logout.ts") },
  uenv: { summary: "List, inspect, pull and test software images", load: () => import("./commands/uenv.ts") },
  cache: { summary: "Fill, show and empty the image caches of nodes", load: () => import("./commands/cache.ts") },
  audit: { summary: "Show, export and verify the audit log", load: () => import("./commands/audit.ts") },
  admin: { summary: "Manage tenants, vClusters and the log", load: () => import("./commands/admin.ts") },
  completion: {
    summary: "Print a completion script for bash, zsh or fish",
    aliases: ["completions"],
    load: () => import("./commands/completion.ts"),
  },
  compat: { summary: "Install the Slurm commands into a folder", load: () => import("./commands/compat.ts") },
  "compat-aliases": {
    summary: "Write shell aliases for the Slurm commands",
    load: () => import("./commands/compat-aliases.ts"),
  },
  __complete: {
    summary: "Print the values that completion may suggest",
    hidden: true,
    load: () => import("./commands/complete.ts"),
  },
  version: { summary: "Show the version of the client and the server", load: () => import("./commands/version.ts") },
};
