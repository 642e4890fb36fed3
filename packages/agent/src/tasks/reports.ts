// Converts a shepherd's reports and a server's orders. It makes no decisions.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { NameAct } from "./base/name-types.ts";
import type { NumberedReport, ShepherdOrder } from "./frames.ts";

export function reportMessage({ number, report }: NumberedReport, node: string): pb.TasksReport {
  const message = (body: pb.TasksReport["report"]): pb.TasksReport =>
    create(pb.TasksReportSchema, { number, report: body });
  switch (report.kind) {
    case "output": {
      const stream = report.stream === "stdout" ? pb.LogStream.STDOUT : pb.LogStream.STDERR;
      const value = create(pb.TaskOutputSchema, { rank: report.rank, stream, data: report.data });
      return message({ case: "output", value });
    }
    case "exit": {
      const { rank, code: exitCode, signal, message: text } = report;
      const value = create(pb.TaskEndSchema, { rank, node, exitCode, signal, message: text });
      return message({ case: "taskEnd", value });
    }
    case "fence": {
      const entries = report.entries.map(([key, value]) => create(pb.KeyValueSchema, { key, value }));
      return message({ case: "fence", value: create(pb.TasksFenceSchema, { number: report.number, entries }) });
    }
    case "abort": {
      const { rank, code: exitCode, message: text } = report;
      return message({ case: "abort", value: create(pb.TasksAbortSchema, { rank, exitCode, message: text }) });
    }
    case "names": {
      const { id, entries, waitSeconds } = report;
      const pairs = entries.map(([key, value]) => create(pb.KeyValueSchema, { key, value }));
      const value = create(pb.TasksNamesSchema, { id, act: ACTS[report.act], entries: pairs, waitSeconds });
      return message({ case: "names", value });
    }
    case "killed": {
      const { code: exitCode, reason } = report;
      return message({ case: "killed", value: create(pb.TasksKillSchema, { exitCode, reason }) });
    }
    case "done":
      return message({ case: "done", value: create(pb.TasksDoneSchema) });
  }
}

const ACTS = {
  publish: pb.NameAct.PUBLISH,
  lookup: pb.NameAct.LOOKUP,
  unpublish: pb.NameAct.UNPUBLISH,
} as const satisfies Record<NameAct, pb.NameAct>;

/** `ticket`: for a server that may not have started the launch. */
export function helloMessage(
  launchId: string,
  nodeId: string,
  error: string,
  ticket: pb.LaunchTicket | null = null,
): pb.TasksReport {
  const fields = { launchId, nodeId, error, repeats: true };
  const value = create(pb.TasksHelloSchema, ticket === null ? fields : { ...fields, ticket });
  return create(pb.TasksReportSchema, { report: { case: "hello", value } });
}

/** In order of execution. */
export function shepherdOrders({ order }: pb.TasksOrder): readonly ShepherdOrder[] {
  if (order.case === "input") return inputOrders(order.value);
  const known = shepherdOrder(order);
  return known === null ? [] : [known];
}

function inputOrders({ data, end, offset, rows, columns }: pb.TasksInput): readonly ShepherdOrder[] {
  return [
    ...(rows > 0 && columns > 0 ? [{ kind: "resize", rows, columns } as const] : []),
    ...(offset === undefined ? [] : [{ kind: "input_at", offset: Number(offset) } as const]),
    ...(data.length > 0 || end ? [{ kind: "input", data, end } as const] : []),
  ];
}

function shepherdOrder(order: pb.TasksOrder["order"]): ShepherdOrder | null {
  switch (order.case) {
    case "taken":
      return { kind: "taken", number: order.value.number };
    case "fenceDone": {
      const entries = order.value.entries.map(({ key, value }) => [key, value] as const);
      return { kind: "fence_done", number: order.value.number, entries };
    }
    case "named": {
      const { id, problem, found } = order.value;
      return { kind: "named", id, problem, found: found.map(({ key, value }) => [key, value] as const) };
    }
    case "kill":
      return { kind: "kill", reason: order.value.reason, code: order.value.exitCode };
    case "again":
      return { kind: "again" };
    default:
      return null;
  }
}
