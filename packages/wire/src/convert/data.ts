// Converts mounts and directories of a submission. Scratch space is a text such as `500GB` in the contract and bytes in
// the core; it is written in the largest unit that divides it.

import { create } from "@bufbuild/protobuf";
import type { AllocationSpec, DataSpec, Mount } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { DataSchema, MountSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import type { FieldList } from "../errors/field-list.ts";

/** Omits unset fields, so that records without them keep their hash. */
export function dataFromProto(
  data: proto.Data | undefined,
  problems: FieldList,
): Pick<AllocationSpec, "mounts" | "data"> {
  if (data === undefined) return {};
  const mounts = mountsOf(data, problems);
  const scratchBytes = data.scratchPerNode === "" ? null : parseSize(data.scratchPerNode);
  if (Number.isNaN(scratchBytes))
    problems.add("allocation.data.scratch_per_node", "must be an amount such as 500GB, 1.5TB or 64GiB");
  const spec: DataSpec = {
    ...(data.output === "" ? null : { output: data.output }),
    ...(scratchBytes === null ? null : { scratchBytes }),
    ...(data.defaults ? { defaults: true } : null),
  };
  return {
    ...(mounts.length === 0 ? null : { mounts }),
    ...(Object.keys(spec).length === 0 ? null : { data: spec }),
  };
}

export function dataToProto({ mounts = [], data }: Pick<AllocationSpec, "mounts" | "data">): proto.Data | undefined {
  if (mounts.length === 0 && data === undefined) return undefined;
  return create(DataSchema, {
    mounts: mounts.map((mount) => create(MountSchema, mount)),
    output: data?.output ?? "",
    scratchPerNode: data?.scratchBytes === undefined ? "" : sizeText(data.scratchBytes),
    defaults: data?.defaults === true,
  });
}

const ACCESS: ReadonlyMap<string, Mount["access"]> = new Map([
  ["", "read-only"],
  ["ro", "read-only"],
  ["read-only", "read-only"],
  ["read_only", "read-only"],
  ["rw", "read-write"],
  ["read-write", "read-write"],
  ["read_write", "read-write"],
]);

function mountsOf(data: proto.Data, problems: FieldList): Mount[] {
  return data.mounts.map(({ source, target, access, tierHint, credentials }, i) => {
    const known = ACCESS.get(access.toLowerCase());
    if (known === undefined) problems.add(`allocation.data.mounts[${i}].access`, "must be read-only or read-write");
    const keys = credentials === "" ? null : { credentials };
    return { source, target, access: known ?? "read-only", tierHint: tierHint.toLowerCase(), ...keys };
  });
}

/** Largest unit first. */
const UNITS: readonly (readonly [string, number])[] = [
  ["TB", 1e12],
  ["GB", 1e9],
  ["MB", 1e6],
  ["KB", 1e3],
  ["TiB", 1024 ** 4],
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
];

/** Returns NaN for text that is no amount. */
function parseSize(text: string): number {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]i?B)$/i.exec(text.trim());
  const unit = UNITS.find(([name]) => name.toLowerCase() === match?.[2]?.toLowerCase());
  return match === null || unit === undefined ? Number.NaN : Math.round(Number(match[1]) * unit[1]);
}

function sizeText(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes % size === 0);
  // Sizes below one kilobyte are rounded up.
  return unit === undefined ? `${Math.ceil(bytes / 1e3)}KB` : `${bytes / unit[1]}${unit[0]}`;
}
