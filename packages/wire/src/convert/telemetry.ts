// Converts telemetry modes in both directions. The default is `prod`.

import { create } from "@bufbuild/protobuf";
import { type AllocationSpec, TELEMETRY_MODES, type TelemetryMode } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { TelemetrySchema } from "../../gen/lattice/v1/allocations_pb.ts";
import type { FieldList } from "../errors/field-list.ts";
import { timestampFromMs } from "../json/timestamp.ts";

export function telemetryFromProto(
  written: proto.Telemetry | undefined,
  problems: FieldList,
): Pick<AllocationSpec, "telemetry"> {
  if (written?.until !== undefined) {
    problems.add("allocation.telemetry.until", "is for answers", "Set telemetry_seconds when you change the mode.");
  }
  const mode = telemetryMode(written?.mode ?? "");
  if (mode === null) {
    problems.add("allocation.telemetry.mode", "is not a mode", `The modes are ${TELEMETRY_MODES.join(", ")}.`);
  }
  return mode === null || mode === "prod" ? {} : { telemetry: { mode, until: null } };
}

export function telemetryToProto({ telemetry }: Pick<AllocationSpec, "telemetry">): { telemetry?: proto.Telemetry } {
  if (telemetry === undefined) return {};
  const { mode, until } = telemetry;
  return { telemetry: create(TelemetrySchema, { mode, ...(until === null ? {} : { until: timestampFromMs(until) }) }) };
}

/** Returns `null` for an unknown mode. */
export function telemetryMode(text: string): TelemetryMode | null {
  const word = text === "" ? "prod" : text.toLowerCase();
  return TELEMETRY_MODES.find((mode) => mode === word) ?? null;
}
