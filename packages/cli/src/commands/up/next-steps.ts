// What a new user can try on the cluster that has just come up.

import { DEFAULT_URL } from "../../settings/settings.ts";
import type { ClusterDescription } from "./cluster-file.ts";

export function nextSteps({ url }: ClusterDescription): string {
  // From `npm start` the program is not on the path.
  const lattice = process.env.npm_lifecycle_event === undefined ? "lattice" : "npx lattice";
  const lines = [
    "",
    "The cluster runs until Ctrl-C. In another terminal, try:",
    "",
    ...(url === DEFAULT_URL ? [] : [`  export LATTICE_API_URL=${url}`]),
    `  ${lattice} nodes                                  the nodes`,
    `  ${lattice} submit --nodes=2 -- hostname           run a command on two nodes`,
    `  ${lattice} submit script.sh                       or a script with #LATTICE or #SBATCH lines`,
    `  ${lattice} status                                 your allocations`,
    `  ${lattice} logs ID --follow                       the output of one`,
    `  ${lattice} cancel ID                              end it`,
    "",
    `API: ${url}/api/v1/docs, for programs ${url}/api/v1/openapi.json`,
  ];
  return lines.join("\n");
}
