// A stand-in for NVIDIA's management library, for nodes without a GPU: as many functions as the agent calls,
// about GPUs that are described by the variable NVML_FAKE, or by the file that it names. Words, in any order:
//   gpus=N  mig=N (slices of each GPU)  switch (NVLink by a switch)  ecc=N (errors of GPU 0)  lost (GPU 0)
//   load=N (percent, of GPU 0; one more on each of the others)  gone (the last GPU gives no handle)  init (does not start)  hang (never answers)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { int gpu; int slice; } device;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char address[32]; } pci_info;
typedef struct { unsigned long long total, free, used; } memory_info;
typedef struct { unsigned id, scope; long long at, latency; unsigned type; int answer; unsigned long long value; } field;

static device devices[64 * 8];

static const char *words(void) {
  static char text[256];
  const char *w = getenv("NVML_FAKE");
  if (w == NULL || w[0] != '/') return w ? w : "gpus=4";
  FILE *file = fopen(w, "r");
  if (file == NULL) return "gpus=0";
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}
static int has(const char *word) { return strstr(words(), word) != NULL; }
static int number(const char *word) { const char *at = strstr(words(), word); return at ? atoi(at + strlen(word)) : 0; }

enum { OK = 0, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, NO_DRIVER = 9, IS_LOST = 15 };

int nvmlInit_v2(void) { if (has("hang")) sleep(600); return has("init") ? NO_DRIVER : OK; }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) {
  return code == NO_DRIVER ? "Driver Not Loaded" : code == IS_LOST ? "GPU is lost" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char *text, unsigned size) { snprintf(text, size, "580.159.04"); return OK; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = number("gpus="); return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned n, device **out) {
  if (has("gone") && n + 1 == (unsigned)number("gpus=")) return IS_LOST;
  devices[n * 8] = (device){ n, -1 };
  *out = &devices[n * 8];
  return OK;
}
int nvmlDeviceGetName(device *d, char *text, unsigned size) { (void)d; snprintf(text, size, "NVIDIA H100 80GB HBM3"); return OK; }
int nvmlDeviceGetUUID(device *d, char *text, unsigned size) {
  if (d->slice < 0) snprintf(text, size, "GPU-0000000%d", d->gpu);
  else snprintf(text, size, "MIG-0000000%d-%d", d->gpu, d->slice);
  return OK;
}
int nvmlDeviceGetVbiosVersion(device *d, char *text, unsigned size) { (void)d; snprintf(text, size, "96.00.61"); return OK; }
int nvmlDeviceGetMemoryInfo(device *d, memory_info *info) {
  info->total = d->slice < 0 ? 80ull << 30 : 10ull << 30;
  return OK;
}
static void address(int gpu, pci_info *info) { snprintf(info->address, 32, "00000000:%02X:00.0", 0x10 + gpu); }
int nvmlDeviceGetPciInfo_v3(device *d, pci_info *info) { address(d->gpu, info); return OK; }
int nvmlDeviceGetMinorNumber(device *d, unsigned *out) { *out = d->gpu; return OK; }
int nvmlDeviceGetCudaComputeCapability(device *d, int *major, int *minor) { (void)d; *major = 9; *minor = 0; return OK; }
int nvmlDeviceGetTemperature(device *d, unsigned sensor, unsigned *out) { (void)sensor; *out = 30 + d->gpu; return OK; }
int nvmlDeviceGetTotalEccErrors(device *d, unsigned kind, unsigned counter, unsigned long long *out) {
  if (has("lost") && d->gpu == 0) return IS_LOST;
  *out = d->gpu == 0 && kind == 1 && counter == 0 ? number("ecc=") : 0;
  return OK;
}
int nvmlDeviceGetUtilizationRates(device *d, unsigned *rates) {
  if (strstr(words(), "load=") == NULL || number("mig=") > 0) return UNSUPPORTED;
  rates[0] = number("load=") + d->gpu;
  rates[1] = 0;
  return OK;
}
int nvmlDeviceGetMigMode(device *d, unsigned *now, unsigned *later) { (void)d; *now = *later = number("mig=") > 0; return OK; }
int nvmlDeviceGetMaxMigDeviceCount(device *d, unsigned *out) { (void)d; *out = 7; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(device *d, unsigned n, device **out) {
  if ((int)n >= number("mig=")) return NOT_FOUND;
  devices[d->gpu * 8 + 1 + n] = (device){ d->gpu, n };
  *out = &devices[d->gpu * 8 + 1 + n];
  return OK;
}
int nvmlDeviceGetGpuInstanceId(device *d, unsigned *out) { if (d->slice < 0) return UNSUPPORTED; *out = 7 + d->slice; return OK; }
int nvmlDeviceGetComputeInstanceId(device *d, unsigned *out) { if (d->slice < 0) return UNSUPPORTED; *out = 0; return OK; }
// Islands of two: 0 with 1, 2 with 3, and so on, by two links each; with a switch all by eighteen.
int nvmlDeviceGetNvLinkState(device *d, unsigned link, unsigned *out) {
  (void)d;
  if (link >= 18) return INVALID;
  *out = has("switch") || link < 2;
  return OK;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(device *d, unsigned link, unsigned *out) { (void)d; (void)link; *out = has("switch") ? 2 : 0; return OK; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(device *d, unsigned link, pci_info *info) { (void)link; address(d->gpu ^ 1, info); return OK; }
int nvmlDeviceGetNvLinkVersion(device *d, unsigned link, unsigned *out) { (void)d; (void)link; *out = 4; return OK; }
int nvmlDeviceGetFieldValues(device *d, int count, field *values) {
  (void)d;
  for (int n = 0; n < count; n++) {
    values[n].answer = values[n].id == 90 && has("switch") ? OK : UNSUPPORTED;
    values[n].value = 26562;
  }
  return OK;
}
int nvmlDeviceGetTopologyCommonAncestor(device *a, device *b, unsigned *out) { *out = a->gpu / 4 == b->gpu / 4 ? 20 : 50; return OK; }
