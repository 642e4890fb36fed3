// The bus address of a GPU, or of the other end of one of its links.

import { pciAddress } from "../base/inventory.ts";
import { cText, type Nvml, OK } from "./library.ts";

const INFO_BYTES = 68;
/** Offset of the long address, the last field of nvmlPciInfo_t. */
const ADDRESS_AT = 36;

/** Empty when NVML does not report it. */
export function pciOf(
  nvml: Nvml,
  name: "nvmlDeviceGetPciInfo_v3" | "nvmlDeviceGetNvLinkRemotePciInfo_v2",
  ...of: readonly unknown[]
): string {
  const info = Buffer.alloc(INFO_BYTES);
  return nvml.call(name, ...of, info) === OK ? pciAddress(cText(info.subarray(ADDRESS_AT))) : "";
}
