// The service part of `lattice update`: program, variables, probe and scaling. The server replaces variables and
// policies as a whole, so they are read first and merged with the flags.

import type { Allocation, LivenessProbe, ScalePolicy, UpdateAllocationRequest } from "@lattice/sdk";

export interface ServiceFlags {
  readonly entrypoint?: string;
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly probe?: LivenessProbe | "none";
  readonly minNodes?: number;
  readonly maxNodes?: number;
  readonly scaleMetric?: string;
  readonly scaleTarget?: string;
}

type ServiceChange = NonNullable<UpdateAllocationRequest["service"]>;

const changesEnvironment = ({ image, env }: ServiceFlags): boolean => image !== undefined || env !== undefined;

export const rescales = ({ minNodes, maxNodes, scaleMetric, scaleTarget }: ServiceFlags): boolean =>
  [minNodes, maxNodes, scaleMetric, scaleTarget].some((flag) => flag !== undefined);

/** Whether the nodes of a running service would be replaced. */
export const replacesNodes = (flags: ServiceFlags): boolean =>
  changesEnvironment(flags) || flags.entrypoint !== undefined || flags.probe !== undefined;

/** Whether the current values must be read first. */
export const changesPart = (flags: ServiceFlags): boolean => changesEnvironment(flags) || rescales(flags);

/** Returns null when no service flag is given. */
export function serviceChange(flags: ServiceFlags, now: Allocation["spec"]): ServiceChange | null {
  if (!replacesNodes(flags) && !rescales(flags)) return null;
  return {
    ...(flags.entrypoint === undefined ? {} : { entrypoint: flags.entrypoint }),
    ...(changesEnvironment(flags) ? { environment: environmentOf(flags, now?.environment ?? {}) } : {}),
    ...(rescales(flags) ? { scale_policy: policyOf(flags, now?.lifecycle?.scale_policy ?? {}) } : {}),
    ...probeOf(flags.probe),
  };
}

const environmentOf = (
  { image, env }: ServiceFlags,
  now: NonNullable<ServiceChange["environment"]>,
): NonNullable<ServiceChange["environment"]> => ({
  ...now,
  ...(image === undefined ? {} : { image }),
  variables: { ...now.variables, ...env },
});

const policyOf = ({ minNodes, maxNodes, scaleMetric, scaleTarget }: ServiceFlags, now: ScalePolicy): ScalePolicy => ({
  ...now,
  ...(minNodes === undefined ? {} : { min: minNodes }),
  ...(maxNodes === undefined ? {} : { max: maxNodes }),
  ...(scaleMetric === undefined ? {} : { metric: scaleMetric }),
  ...(scaleTarget === undefined ? {} : { target: scaleTarget }),
});

function probeOf(probe: ServiceFlags["probe"]): ServiceChange {
  if (probe === undefined) return {};
  return probe === "none" ? { remove_liveness_probe: true } : { liveness_probe: probe };
}
