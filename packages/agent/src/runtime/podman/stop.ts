// podman puts the processes of a container below the attempt's control group, so they end as bare processes do.

export { stop } from "../process/stop.ts";
