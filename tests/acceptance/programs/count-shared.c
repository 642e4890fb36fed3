/* Counts steps into a file, and takes checkpoints when it is asked by the flag in shared memory. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REQUEST = 0, DONE = 1, STOP = 2, PERCENT = 3 };

static long read_count(const char *folder) {
  char path[4096];
  long n = 0;
  snprintf(path, sizeof path, "%s/count", folder);
  FILE *file = fopen(path, "r");
  if (file == NULL || fscanf(file, "%ld", &n) != 1) exit(3);
  fclose(file);
  return n;
}

static void save(unsigned number, long n) {
  char folder[4096], path[4200];
  snprintf(folder, sizeof folder, "%s/%u", getenv("LATTICE_CHECKPOINT_DIR"), number);
  mkdir(folder, 0755);
  snprintf(path, sizeof path, "%s/count", folder);
  FILE *file = fopen(path, "w");
  fprintf(file, "%ld\n", n);
  fclose(file);
}

int main(int argc, char **argv) {
  const char *resume = getenv("LATTICE_RESUME_FROM");
  long n = resume == NULL ? 0 : read_count(resume);
  int fd = open(getenv("LATTICE_CHECKPOINT_SHM"), O_RDWR);
  volatile unsigned *flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (argc < 3 || flag == MAP_FAILED) return 2;
  while (access(argv[2], F_OK) != 0) {
    n++;
    FILE *diary = fopen(argv[1], "a");
    fprintf(diary, "%ld\n", n);
    fclose(diary);
    unsigned wanted = flag[REQUEST];
    if (wanted != 0) {
      save(wanted, n);
      unsigned stop = flag[STOP];
      flag[PERCENT] = 100;
      flag[REQUEST] = 0;
      flag[DONE] = wanted;
      if (stop) return 0;
    }
    usleep(20000);
  }
  return 0;
}
