// Converts the additional output files in both directions.

import { create } from "@bufbuild/protobuf";
import type { AllocationSpec, OutputFiles } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { OutputFilesSchema } from "../../gen/lattice/v1/allocations_pb.ts";

/** The core validates the paths. */
export function outputFromProto(files: proto.OutputFiles | undefined): Pick<AllocationSpec, "output"> {
  if (files === undefined) return {};
  const { file, errorFile, append, ifPossible } = files;
  const output: OutputFiles = {
    file,
    ...(errorFile === "" ? null : { errorFile }),
    ...(append ? { append } : null),
    ...(ifPossible ? { ifPossible } : null),
  };
  return { output };
}

export const outputToProto = ({ output }: Pick<AllocationSpec, "output">): { output?: proto.OutputFiles } =>
  output === undefined ? {} : { output: create(OutputFilesSchema, { ...output }) };
