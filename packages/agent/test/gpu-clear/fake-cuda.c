// A stand-in for CUDA's driver library: one GPU with CUDA_FAKE blocks of 2 MiB, which are counted when they
// are zeroed. Each clearing adds a line to the file CUDA_FAKE_DIARY.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long left, zeroed;

static int says(const char *word) {
  const char *text = getenv("CUDA_FAKE");
  return text != NULL && strstr(text, word) != NULL;
}

int cuInit(unsigned flags) {
  (void)flags;
  if (says("hang")) sleep(600);
  return says("no-driver") ? 100 : 0;
}
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) {
  (void)flags; (void)device;
  left = 2000;
  zeroed = 0;
  *context = &left;
  return says("broken-gpu") ? 719 : 0;
}
int cuCtxDestroy_v2(void *context) {
  (void)context;
  const char *path = getenv("CUDA_FAKE_DIARY");
  FILE *diary = path == NULL ? NULL : fopen(path, "a");
  if (diary == NULL) return 0;
  fprintf(diary, "%s %ld of 2000\n", getenv("CUDA_VISIBLE_DEVICES"), zeroed);
  fclose(diary);
  return 0;
}
int cuCtxSynchronize(void) { return 0; }
int cuMemAlloc_v2(uint64_t *block, size_t bytes) {
  long blocks = bytes >> 21;
  if (blocks > left) return 2;
  left -= blocks;
  *block = 4096;
  return 0;
}
int cuMemsetD8_v2(uint64_t block, unsigned char value, size_t bytes) {
  if (block != 4096 || value != 0) return 1;
  zeroed += bytes >> 21;
  return 0;
}
