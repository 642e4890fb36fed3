// Converts the exposed ports and the liveness probe of a service in both directions, with the defaults of a probe
// filled in.

import { create } from "@bufbuild/protobuf";
import { type AllocationSpec, type LivenessProbe, seconds } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { ConnectivitySchema, ExposedPortSchema, LivenessProbeSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import type { FieldList } from "../errors/field-list.ts";

type Service = Pick<AllocationSpec, "expose" | "probe" | "networkDomain">;

/** Defaults of a probe, in seconds and in consecutive failures. */
const DEFAULTS = { period: 30, initialDelay: 10, timeout: 5, threshold: 3 };

export function serviceFromProto(spec: proto.AllocationSpec, problems: FieldList): Service {
  const ports = (spec.connectivity?.expose ?? []).map(({ name, port, protocol }) => ({
    name,
    port,
    ...(protocol === "" ? null : { protocol: protocol.toLowerCase() }),
  }));
  const { livenessProbe } = spec;
  const domain = spec.connectivity?.networkDomain ?? "";
  return {
    ...(domain === "" ? null : { networkDomain: domain }),
    ...(ports.length === 0 ? null : { expose: ports }),
    ...(livenessProbe === undefined ? null : { probe: probeOf(livenessProbe, problems, "allocation.liveness_probe") }),
  };
}

export function probeOf(probe: proto.LivenessProbe, problems: FieldList, field: string): LivenessProbe {
  const asked = probe.probeType.toLowerCase();
  if (asked !== "" && asked !== "tcp" && asked !== "http")
    problems.add(`${field}.probe_type`, "is not a kind of probe", "The kinds are tcp and http.");
  const kind = asked === "http" || (asked === "" && probe.path !== "") ? "http" : "tcp";
  return {
    kind,
    port: probe.port,
    path: kind === "http" && probe.path === "" ? "/" : probe.path,
    period: seconds(probe.periodSecs || DEFAULTS.period),
    initialDelay: seconds(probe.initialDelaySecs || DEFAULTS.initialDelay),
    failureThreshold: probe.failureThreshold || DEFAULTS.threshold,
    timeout: seconds(probe.timeoutSecs || DEFAULTS.timeout),
  };
}

export function serviceToProto({ expose = [], probe, networkDomain = "" }: Service): {
  connectivity?: proto.Connectivity;
  livenessProbe?: proto.LivenessProbe;
} {
  return {
    ...(expose.length === 0 && networkDomain === ""
      ? null
      : {
          connectivity: create(ConnectivitySchema, {
            networkDomain,
            expose: expose.map((port) => create(ExposedPortSchema, port)),
          }),
        }),
    ...(probe === undefined ? null : { livenessProbe: probeToProto(probe) }),
  };
}

export const probeToProto = (probe: LivenessProbe): proto.LivenessProbe =>
  create(LivenessProbeSchema, {
    probeType: probe.kind,
    port: probe.port,
    path: probe.path,
    periodSecs: probe.period / 1000,
    initialDelaySecs: probe.initialDelay / 1000,
    failureThreshold: probe.failureThreshold,
    timeoutSecs: probe.timeout / 1000,
  });
